"""Judging the fused candidates once more: by a model, or by the fields they match."""

from rag_assets.retrieval.reranking.applying import Reranked, rerank
from rag_assets.retrieval.reranking.loading import Reranker, load_reranker
