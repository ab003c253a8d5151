"""Papers: what a question asks for of them."""

from rag_assets.retrieval.papers.routing import Intent, Route

__all__ = ["Intent", "Route"]
