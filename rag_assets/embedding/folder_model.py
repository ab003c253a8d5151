"""Kind `sentence_transformers`: a model in a folder, or in the local cache of the hub."""

from rag_assets.embedding.bert_folder import is_plain_bert, read_plain_bert
from rag_assets.embedding.bert_parts import PlainBert
from rag_assets.embedding.bundled_files import BUNDLED_FOLDERS, BUNDLED_MODELS, checked_folder
from rag_assets.embedding.embedder import Embedder, EmbeddingTokenizer, QueryEncoder
from rag_assets.embedding.model_folder import FolderFacts, folder_facts, model_folder
from rag_assets.embedding.model_tokenizer import read_model_tokenizer
from rag_assets.model import ConfigurationError
from rag_assets.settings import ModelSettings


def tokenizer(model: ModelSettings) -> EmbeddingTokenizer:
    """Return the model's tokenizer. Imports no torch."""
    return read_model_tokenizer(_facts(model))


def fingerprint(model: ModelSettings) -> str:
    """Return the SHA-256 of all that decides a vector. Reads the weights once a process."""
    return _facts(model).fingerprint


def dimension(model: ModelSettings) -> int:
    """Return the length of the vectors."""
    return _facts(model).dimension


def embedder(model: ModelSettings) -> Embedder:
    """Return the loaded model."""
    return embedder_of(_facts(model), model)


def query_encoder(model: ModelSettings) -> QueryEncoder:
    """Return what makes the vectors of questions; a plain BERT needs no torch."""
    return query_encoder_of(_facts(model), model)


def embedder_of(facts: FolderFacts, model: ModelSettings) -> Embedder:
    """Return the loaded model of a folder."""
    if is_plain_bert(facts.folder):
        return bert_embedder(read_plain_bert(facts), model)
    if model.dtype == "int8":
        raise ConfigurationError(
            f"embed.models: {model.model}: dtype: int8 is for plain BERTs; this is another kind of "
            "model. Take the line away, or write float32."
        )
    from rag_assets.embedding.sentence_model import SentenceEmbedder

    return SentenceEmbedder(facts, model)


def bert_embedder(bert: PlainBert, model: ModelSettings) -> Embedder:
    """Return what encodes passages with a plain BERT: torch where it may find a GPU.

    Raises:
        ConfigurationError: int8 on a device that computes in floating point alone.
    """
    if model.dtype == "int8" and model.device not in {"auto", "cpu"}:
        raise ConfigurationError(
            f"embed.models: {model.model}: dtype: int8 is computed on the processor, and device is "
            f"{model.device!r}. Write dtype: float16 for a GPU, or take device away."
        )
    if model.dtype == "int8" or (model.dtype, model.device) == ("float32", "cpu"):
        from rag_assets.embedding.bert_onnx import OnnxBertEmbedder

        return OnnxBertEmbedder(bert, model)
    from rag_assets.embedding.bert_torch import BertEmbedder

    return BertEmbedder(bert, model)


def query_encoder_of(facts: FolderFacts, model: ModelSettings) -> QueryEncoder:
    """Return what makes the vectors of questions with the model of a folder."""
    if is_plain_bert(facts.folder):
        from rag_assets.embedding.bert_model import BertQueryEncoder

        return BertQueryEncoder(read_plain_bert(facts))
    return embedder_of(facts, model)


def _facts(model: ModelSettings) -> FolderFacts:
    if model.model in BUNDLED_FOLDERS:
        # Settings written before there was `kind: bundled` say it so.
        files = BUNDLED_MODELS[model.model].hashes()
        return folder_facts(model, checked_folder(model.model), files)
    return folder_facts(model, model_folder(model))
