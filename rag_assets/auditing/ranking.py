"""The passages of one document, ranked for one claim by nothing but the two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_assets.auditing.draft import SentenceSplitter
from rag_assets.auditing.library import CitedDocument, Passage
from rag_assets.auditing.locating import cut_quote
from rag_assets.auditing.verdict import SCORE_DECIMALS, Finding, Trouble
from rag_assets.evidence.wording import coverage

# Above this share of tokens that a model does not know, its vector speaks of the rest only.
# Measured with MiniLM's vocabulary: 0 in each of 1,547 English claims, 0.17 to 1 in 1,378
# Chinese ones; English passages full of formulas reach 0.15.
MAX_UNKNOWN_SHARE = 0.15

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """What turns text into vectors. Texts go in one batch; rows come in their order."""

    @property
    def fingerprint(self) -> str:
        """Return what identifies the model and its configuration."""
        ...

    def encode_queries(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        ...

    def encode_passages(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        ...

    def unknown_share(self, text: str) -> float:
        """Return the share, 0 to 1, of the tokens of `text` that the model does not know."""
        ...


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The k passages nearest to a claim, best first, with their cosines.

    Args:
        readable: how many passages the model can read.
        unreadable: how many it cannot; they are not compared.
    """

    passages: tuple[Passage, ...]
    cosines: tuple[float, ...]
    readable: int
    unreadable: int


def cosines(vectors: Vectors, query: Vectors) -> NDArray[np.float64]:
    """Return the exact cosine of each row of `vectors` with `query`, rounded to six decimals.

    A vector of length zero has no direction; its cosine is taken as 0.
    """
    rows, wanted = vectors.astype(np.float64), query.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(wanted)
    # A sum per row, not a matrix product: its result must not depend on the other rows.
    products = (rows * wanted).sum(axis=1)
    values = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    rounded: NDArray[np.float64] = np.round(np.clip(values, -1.0, 1.0), SCORE_DECIMALS)
    return rounded


def find_trouble(document: CitedDocument, dimension: int) -> Trouble | None:
    """Return why the document's vectors cannot be compared with those of the encoder."""
    for passage in document.passages:
        if passage.vector.shape != (dimension,):
            return Trouble(
                "model_mismatch",
                f"The vectors of `{document.doc_uid}` have the shape {passage.vector.shape}, the "
                f"embedding model makes ({dimension},): it was indexed with another model. Run "
                "`rag index`.",
            )
        if not np.isfinite(passage.vector).all():
            return Trouble(
                "damaged_vectors",
                f"The vector of `{passage.chunk_id}` holds a number that is not finite. Run "
                "`rag embed`, then `rag index`.",
            )
    return None


def shortlist(
    document: CitedDocument, readable: Sequence[bool], query: Vectors, k: int
) -> Shortlist:
    """Return the best `k` readable passages by cosine; equal ones in the order of the text.

    Args:
        document: its passages in the order of the text.
        readable: for each passage, whether the model can read it.
        query: vector of the claim, shape (dimension,).
        k: at least 1.
    """
    known = [passage for passage, can in zip(document.passages, readable, strict=True) if can]
    if not known:
        return Shortlist((), (), 0, len(readable))
    values = cosines(np.stack([passage.vector for passage in known]), query)
    order = np.argsort(-values, kind="stable")[:k]
    return Shortlist(
        tuple(known[i] for i in order),
        tuple(float(values[i]) for i in order),
        len(known),
        len(readable) - len(known),
    )


def sentence_spans(passage: Passage, split: SentenceSplitter) -> list[tuple[int, int]]:
    """Return the spans of the passage's sentences; the whole of it where it has none."""
    spans = [span for span in split(passage.text) if passage.text[slice(*span)].strip()]
    return spans or [(0, len(passage.text))]


def find_by_similarity(
    nearest: Shortlist,
    query: Vectors,
    sentence_vectors: Mapping[str, Vectors],
    split: SentenceSplitter,
) -> Finding | None:
    """Return the passage that is itself, or by one of its sentences, nearest to the claim.

    Args:
        nearest: passages to choose from.
        query: vector of the claim, shape (dimension,).
        sentence_vectors: by the sentence's text; holds every sentence of the shortlist.
        split: finds the sentences of a passage, as when they were encoded.
    """
    best: Finding | None = None
    for passage, whole in zip(nearest.passages, nearest.cosines, strict=True):
        spans = sentence_spans(passage, split)
        rows = np.stack([sentence_vectors[passage.text[slice(*span)]] for span in spans])
        values = cosines(rows, query)
        top = int(np.argmax(values))
        score = max(whole, float(values[top]))
        if best is None or score > best.score:
            best = Finding(score, "similarity", passage, cut_quote(passage, *spans[top]))
    if best is None or not nearest.unreadable:
        return best
    total = nearest.unreadable + nearest.readable
    note = (
        f"Passages left out, because the embedding model does not know their words: "
        f"{nearest.unreadable} of {total}."
    )
    return replace(best, scoring_note=note)


def find_by_coverage(
    document: CitedDocument, claim: str, note: str, split: SentenceSplitter
) -> Finding | None:
    """Return the passage that holds the largest share of the claim's content units.

    Args:
        document: all its passages are looked at.
        claim: the sentence without anchors and marks.
        split: finds the sentences of a passage.
        note: why words are compared and not meaning.
    """
    if not document.passages:
        return None
    # `max` keeps the first of equals, which is the first in the text.
    passage = max(document.passages, key=lambda candidate: coverage(claim, candidate.text))
    spans = sentence_spans(passage, split)
    span = max(spans, key=lambda s: coverage(claim, passage.text[slice(*s)]))
    score = round(coverage(claim, passage.text), SCORE_DECIMALS)
    return Finding(score, "coverage", passage, cut_quote(passage, *span), note)
