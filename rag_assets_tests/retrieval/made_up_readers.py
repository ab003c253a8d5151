"""Publications that exist in memory only: what each searcher says of a chunk is written down."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from rag_assets.model import hash_text
from rag_assets.model.settings import RetrieveSettings
from rag_assets.publishing.content_words import Language, passage_language
from rag_assets.retrieval import AskedQuery, Hit, Reader, SearchFilters
from rag_assets.retrieval.filters import EVERYTHING
from rag_assets.workspace import shipped_settings

# What made-up vectors are compared with: their first number is the cosine.
QUESTION = [1.0] + [0.0] * 32
# The number that usual questions share and QUESTION has not.
SHARED = 3


def hit(identity: str, **changes: Any) -> Hit:
    """Return a chunk `<document>:<number>` of namespace `thesis`."""
    doc_uid, _, index = identity.rpartition(":")
    text = changes.pop("text", f"Passage {identity} speaks of nothing else.")
    values: dict[str, Any] = {
        "namespace": "thesis",
        "chunk_id": identity,
        "parent_id": f"{doc_uid}:p{int(index) // 2 + 1:03d}",
        "doc_uid": doc_uid,
        "doc_id": "d" * 64,
        "doc_title": doc_uid.title(),
        "citation_key": None,
        "source_type": "evidence",
        "source_subtype": None,
        "citable": True,
        "chunk_index": int(index),
        "page_start": 1,
        "page_end": 1,
        "char_start": int(index) * 100,
        "char_end": int(index) * 100 + len(text),
        "section_path": (),
        "text": text,
        "content_hash": hash_text(text),
        "citation_id": f"kb:thesis__chunk-{hash_text(text)[:16]}",
        "is_cut": False,
    }
    return Hit(**values | changes)


@dataclass(frozen=True)
class MadeUpModel:
    name: str
    fingerprint: str
    is_sparse: bool = False
    is_empty: bool = False


@dataclass
class MadeUpReader:
    """Says what it was made with; a model without a score for a chunk has no vector of it.

    Args:
        words: BM25 by chunk id; 0 for those that are left out.
        cosines: by model name and chunk id.
        vectors: the same way; of length 1.
    """

    chunks: Sequence[Hit]
    words: Mapping[str, float] = field(default_factory=dict)
    cosines: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    vectors: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    entity_graph: None = None
    namespace: str = "thesis"

    @property
    def models(self) -> tuple[MadeUpModel, ...]:
        return tuple(
            MadeUpModel(name, name.upper())
            for name in dict.fromkeys([*self.cosines, *self.vectors])
        )

    @property
    def fingerprints(self) -> tuple[str, ...]:
        return tuple(model.fingerprint for model in self.models)

    def count_by_language(self, filters: SearchFilters = EVERYTHING) -> Mapping[str, int]:
        return Counter(_language(chunk) for chunk in self._passing(filters))

    def sample_vectors(
        self, fingerprint: str, languages: Sequence[str], filters: SearchFilters, most: int
    ) -> Any:
        own = self.vectors.get(fingerprint.lower(), {})
        chunks = [chunk for chunk in self._passing(filters) if _language(chunk) in languages]
        found = [own[chunk.chunk_id] for chunk in chunks if chunk.chunk_id in own][:most]
        return np.array(found, dtype=np.float64).reshape(len(found), len(QUESTION))

    def usual_questions(self, _: str) -> Mapping[str, Any]:
        """Return questions like QUESTION, that share something it has not; noise of their own."""
        noise = np.random.default_rng(5).normal(size=(40, len(QUESTION)))
        noise[:, :3] = 0.0
        noise[:, SHARED] = 6.0
        noise /= np.linalg.norm(noise, axis=1, keepdims=True)
        usual = 0.95 * np.array(QUESTION) + np.sqrt(1 - 0.95**2) * noise
        return {"en": usual, "zh": usual}

    def rank_text(
        self, _: str, limit: int, filters: SearchFilters, text: object = None
    ) -> list[tuple[str, float]]:
        return self._rank(
            {key: score for key, score in self.words.items() if score > 0}, limit, filters
        )

    def rank_vectors(
        self, fingerprint: str, _: Sequence[float], limit: int, filters: SearchFilters
    ) -> list[tuple[str, float]]:
        return self._rank(self.cosines[fingerprint.lower()], limit, filters)

    def score_text(self, _: str, ids: Sequence[str], text: object = None) -> dict[str, float]:
        return {key: self.words.get(key, 0.0) for key in ids}

    def score_vectors(
        self, fingerprint: str, _: Sequence[float], ids: Sequence[str]
    ) -> dict[str, float]:
        own = self.cosines[fingerprint.lower()]
        return {key: own[key] for key in ids if key in own}

    def fetch_hits(self, ids: Iterable[str]) -> dict[str, Hit]:
        wanted = set(ids)
        return {chunk.chunk_id: chunk for chunk in self.chunks if chunk.chunk_id in wanted}

    def passage_languages(self, ids: Sequence[str]) -> dict[str, Language]:
        wanted = set(ids)
        return {c.chunk_id: _language(c) for c in self.chunks if c.chunk_id in wanted}

    def fetch_vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, Any]:
        own = self.vectors.get(fingerprint.lower(), {})
        return {key: np.array(own[key], dtype=np.float32) for key in ids if key in own}

    def fetch_window(self, doc_uid: str, first: int, last: int) -> list[Hit]:
        own = (chunk for chunk in self.chunks if chunk.doc_uid == doc_uid)
        return sorted(
            (chunk for chunk in own if first <= chunk.chunk_index <= last),
            key=lambda chunk: chunk.chunk_index,
        )

    def _passing(self, filters: SearchFilters) -> list[Hit]:
        wanted = filters.passage_languages
        return [chunk for chunk in self.chunks if wanted is None or _language(chunk) in wanted]

    def _rank(
        self, scores: Mapping[str, float], limit: int, filters: SearchFilters
    ) -> list[tuple[str, float]]:
        out = {chunk.chunk_id for chunk in self.chunks} - {
            chunk.chunk_id for chunk in self._passing(filters)
        }
        found = [item for item in scores.items() if item[0] not in out]
        return sorted(found, key=lambda item: (-item[1], item[0]))[:limit]


def _language(chunk: Hit) -> Language:
    return passage_language(chunk.text, chunk.language)


def readers(*made_up: MadeUpReader) -> list[Reader]:
    return [cast("Reader", reader) for reader in made_up]


def query(*models: str, text: str = "What is it?", language: Language = "en") -> AskedQuery:
    """Return a question with a vector of each model."""
    texts = {"q" if language == "other" else f"q_{language}": text}
    return AskedQuery(text, language, texts, {model.upper(): [QUESTION] for model in models})


def configured(**changes: Any) -> RetrieveSettings:
    """Return the shipped search settings with changes; `fusion`, `rerank` and `quality` merge."""
    values = shipped_settings().retrieve.model_dump()
    for name, value in changes.items():
        values[name] = values[name] | value if isinstance(value, dict) else value
    return RetrieveSettings.model_validate(values)
