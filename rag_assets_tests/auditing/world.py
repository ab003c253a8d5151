"""A made-up library, an encoder of hashed words, and drafts for both."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from rag_assets.auditing import (
    CitationAudit,
    CitedDocument,
    CitedDocumentRef,
    NoReferences,
    Passage,
    VerdictStore,
    parse_draft,
    verify_citations,
)
from rag_assets.auditing.pairing import Known
from rag_assets.law.citing import StatuteCitation
from rag_assets.model import PageBox
from rag_assets.model.settings import VerifySettings
from rag_assets.retrieval.statutes import UnknownLawError

DIMENSION = 256
SETTINGS = VerifySettings(
    scorer="similarity",
    k=10,
    threshold=0.55,
)

_WORD = re.compile(r"[a-z0-9]+")
_HAN = re.compile(r"[\u4e00-\u9fff]")


class WordEncoder:
    """Texts that share words, or Chinese characters, point the same way."""

    fingerprint = "hashed-words-256"

    def __init__(self) -> None:
        self.batches: list[tuple[str, int]] = []

    def encode_queries(self, texts: list[str]) -> NDArray[np.float32]:
        self.batches.append(("queries", len(texts)))
        return self._encode(texts)

    def encode_passages(self, texts: list[str]) -> NDArray[np.float32]:
        self.batches.append(("passages", len(texts)))
        return self._encode(texts)

    def unknown_share(self, text: str) -> float:
        return 0.0

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        return np.stack([word_vector(text) for text in texts])


class LatinEncoder(WordEncoder):
    """The same without Chinese, like MiniLM."""

    fingerprint = "hashed-latin-words-256"

    def unknown_share(self, text: str) -> float:
        unknown = len(_HAN.findall(text))
        return unknown / max(unknown + len(_WORD.findall(text.lower())), 1)


def word_vector(text: str) -> NDArray[np.float32]:
    vector = np.zeros(DIMENSION, dtype=np.float32)
    for word in (*_WORD.findall(text.lower()), *_HAN.findall(text)):
        place = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % DIMENSION
        vector[place] += 1
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


def make_passage(
    uid: str,
    order: int,
    text: str,
    *,
    page: int | None = 1,
    last_page: int | None = None,
    start: int | None = None,
    section: tuple[str, ...] = (),
) -> Passage:
    return Passage(
        chunk_id=f"{uid}:{order}",
        parent_id=f"{uid}:p{page or 0:03}",
        text=text,
        page_start=page,
        page_end=last_page or page,
        char_start=start,
        char_end=None if start is None else start + len(text),
        section_path=section,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
        citation_id=f"kb:thesis__chunk-{order:016x}",
    )


def make_document(
    uid: str,
    passages: Sequence[str | Passage],
    namespace: str = "thesis",
    *,
    citable: bool = True,
    title: str | None = None,
) -> CitedDocument:
    built, offset = [], 0
    for order, given in enumerate(passages):
        if isinstance(given, Passage):
            built.append(given)
        else:
            built.append(make_passage(uid, order, given, page=order + 1, start=offset))
            offset += len(given) + 1
    return CitedDocument(namespace, uid, title, citable, built)


class Shelf(NoReferences):
    """Documents in memory. `loaded` says which were opened."""

    def __init__(
        self,
        documents: Iterable[CitedDocument],
        withheld: Mapping[tuple[str, str], str] | None = None,
        publications: Mapping[str, str] | None = None,
        keys: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self._keys = dict(keys or {})
        self._documents = {(d.namespace, d.doc_uid): d for d in documents}
        self._withheld = dict(withheld or {})
        self.loaded: list[str] = []
        self.publications = dict(publications or {d[0]: f"{d[0]}-1" for d in self._documents})

    def find(self, doc_uid: str, namespace: str | None) -> list[CitedDocumentRef]:
        return [
            CitedDocumentRef(d.namespace, uid, d.title, d.citable, self._withheld.get((name, uid)))
            for (name, uid), d in self._documents.items()
            if uid == doc_uid and namespace in {None, name}
        ]

    def load(self, ref: CitedDocumentRef) -> CitedDocument:
        self.loaded.append(ref.doc_uid)
        return self._documents[ref.namespace, ref.doc_uid]

    def find_boxes(
        self, ref: CitedDocumentRef, spans: Sequence[tuple[int, int]]
    ) -> list[tuple[PageBox, ...]]:
        return [()] * len(spans)

    def find_key(self, citation_key: str, namespace: str | None) -> list[CitedDocumentRef]:
        if citation_key not in self._keys:
            return []
        home, uid = self._keys[citation_key]
        return self.find(uid, home) if namespace in {None, home} else []

    def find_article(
        self, citation: StatuteCitation, namespaces: Sequence[str], as_of: date | None = None
    ) -> CitedDocumentRef:
        raise UnknownLawError(f"《{citation.law}》 is not in this vault.")

    def known(self, namespaces: Sequence[str]) -> list[Known]:
        return [
            Known(d.namespace, d.doc_uid, d.title or "", head="\n".join(p.text for p in d.passages))
            for d in self._documents.values()
            if not namespaces or d.namespace in namespaces
        ]

    def uids(self) -> list[tuple[str, str]]:
        return list(self._documents)

    def keys(self) -> list[tuple[str, str]]:
        return [(home, key) for key, (home, _) in self._keys.items()]


def audit_of(
    text: str,
    documents: Iterable[CitedDocument] | Shelf,
    encoder: WordEncoder | None = None,
    settings: VerifySettings = SETTINGS,
    store: VerdictStore | None = None,
) -> CitationAudit:
    shelf = documents if isinstance(documents, Shelf) else Shelf(documents)
    draft = parse_draft("chapter.md", text.encode())
    return verify_citations(draft, shelf, encoder or WordEncoder(), settings, store=store)
