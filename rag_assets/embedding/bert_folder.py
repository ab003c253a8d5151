"""A model's folder that holds a plain BERT: is it one, and its parts."""

import json
from pathlib import Path

from rag_assets.embedding.bert_parts import (
    WORD_EMBEDDINGS,
    BertShape,
    PlainBert,
    SafetensorsWeights,
    read_header,
)
from rag_assets.embedding.model_folder import FolderFacts, read_json
from rag_assets.embedding.model_tokenizer import TOKENIZER_FILE, cutting_token_ids

_WEIGHTS = "model.safetensors"
# What sentence-transformers calls the modules of a model that this file can stand for.
_MODULES = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
_MEAN, _FIRST = "pooling_mode_mean_tokens", "pooling_mode_cls_token"
_POOLING_FIELDS = {"word_embedding_dimension", "include_prompt"}


def is_plain_bert(folder: Path) -> bool:
    """Say whether `bert_model.py` and `bert_torch.py` compute what the model in `folder` computes.

    Decided by what the model's files say of it, never by trying: another architecture, another
    activation, another pooling or another precision is left to sentence-transformers.
    """
    config, bert = read_json(folder, "config.json"), read_json(folder, "sentence_bert_config.json")
    pooling = _pooling_modes(folder)
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder")
        and not bert.get("do_lower_case")
        and _module_names(folder) in _MODULES
        and pooling in ([_MEAN], [_FIRST])
        and _has_plain_weights(folder)
    )


def read_plain_bert(found: FolderFacts) -> PlainBert:
    """Return the parts of the model, of which `is_plain_bert` is true."""
    config = read_json(found.folder, "config.json")
    shape = BertShape(
        hidden=int(config["hidden_size"]),
        inner=int(config["intermediate_size"]),
        layers=int(config["num_hidden_layers"]),
        heads=int(config["num_attention_heads"]),
        positions=int(config["max_position_embeddings"]),
        epsilon=float(config["layer_norm_eps"]),
    )
    return PlainBert(
        name=found.name,
        fingerprint=found.fingerprint,
        weights=SafetensorsWeights(found.folder / _WEIGHTS, shape),
        token_ids=cutting_token_ids(found.folder / TOKENIZER_FILE, found.max_tokens),
        query_prompt=found.prompts.query,
        passage_prompt=found.prompts.passage,
        is_mean=_pooling_modes(found.folder) == [_MEAN],
        dimension=found.dimension,
    )


def _module_names(folder: Path) -> list[str]:
    path = folder / "modules.json"
    modules = json.loads(path.read_text("utf-8")) if path.is_file() else []
    if any(module["type"].endswith(".Transformer") and module["path"] for module in modules):
        return []
    return [module["type"].rsplit(".", 1)[-1] for module in modules]


def _pooling_modes(folder: Path) -> list[str]:
    """Return the poolings that are switched on, and every field that is not known here."""
    config = read_json(folder, "1_Pooling/config.json")
    if not config.get("include_prompt", True):
        return []
    return sorted(name for name, value in config.items() if value and name not in _POOLING_FIELDS)


def _has_plain_weights(folder: Path) -> bool:
    if not (folder / _WEIGHTS).is_file():
        return False
    tensors = read_header(folder / _WEIGHTS)[0]
    return WORD_EMBEDDINGS in tensors and all(
        tensor["dtype"] == "F32" for name, tensor in tensors.items() if name.endswith("weight")
    )
