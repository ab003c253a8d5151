"""Sparse encoders that tests make: no such model comes in a wheel."""

from pathlib import Path
from typing import Any

from rag_assets.embedding.bundled_files import bundled_folder


def save_word_encoder(folder: Path) -> Path:
    """Write an encoder without layers: a word weighs more the rarer its place says it is."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding

    tokenizer = _tokenizer()
    # Marks and letters stand first in the vocabulary, and after them the commonest words.
    weights = torch.linspace(0, 2, len(tokenizer))
    weights[:2300] = 0
    SparseEncoder(modules=[SparseStaticEmbedding(tokenizer, weights, frozen=True)]).save(
        str(folder)
    )
    return folder


def save_layered_encoder(folder: Path) -> Path:
    """Write an encoder of SPLADE's shape, small and untrained."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = _tokenizer()
    torch.manual_seed(7)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
        )
    )
    plain = folder / "plain"
    model.save_pretrained(plain)
    tokenizer.save_pretrained(plain)
    whole = folder / "whole"
    SparseEncoder(modules=[MLMTransformer(str(plain)), SpladePooling()]).save(str(whole))
    return whole


def _tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(bundled_folder("all-MiniLM-L6-v2")))
