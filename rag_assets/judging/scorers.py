"""From settings to a scorer; the scorer `similarity`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from rag_assets.judging.contract import (
    SCORE_DECIMALS,
    Judgement,
    PassageText,
    Scorer,
    Thresholds,
    show_score,
    spec_thresholds,
)
from rag_assets.judging.facts import FactsScorer, hold_against_facts
from rag_assets.judging.statement import state
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.model.settings import ScorerName, VerifySettings
from rag_assets.publishing.content_words import coverage

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel
    from rag_assets.workspace import Workspace

# Scorer `similarity` (spec 000): the cosine of a claim with the nearest passage or sentence.

# Above this share of tokens that a model does not know, its vector speaks of the rest only.
# Measured with MiniLM's vocabulary: 0 in each of 1,547 English claims, 0.17 to 1 in 1,378
# Chinese ones; English passages full of formulas reach 0.15.
MAX_UNKNOWN_SHARE = 0.15
# Counts as code: raise it when the same vectors come to another score.
_VERSION = 5

Vectors = NDArray[np.float32]


class TextEncoder(Protocol):
    """What turns text into vectors. Texts go in one batch; rows come in their order."""

    @property
    def fingerprint(self) -> str:
        """Return what identifies the model and its configuration."""

    def encode_queries(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""

    def encode_passages(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""

    def unknown_share(self, text: str) -> float:
        """Return the share, 0 to 1, of the tokens of `text` that the model does not know."""


def cosines(vectors: Vectors, query: Vectors) -> NDArray[np.float64]:
    """Return the cosine of each row of `vectors` with `query`, rounded to six decimals.

    A vector of length zero has no direction; its cosine is taken as 0.
    """
    rows, wanted = vectors.astype(np.float64), query.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(wanted)
    # A sum per row, not a matrix product: its result must not depend on the other rows.
    products = (rows * wanted).sum(axis=1)
    values = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    rounded: NDArray[np.float64] = np.round(np.clip(values, -1.0, 1.0), SCORE_DECIMALS)
    return rounded


@dataclass(frozen=True, slots=True)
class SimilarityScorer:
    """Nearness in meaning; `unread` where the model does not know the words."""

    thresholds: Thresholds
    encoder: TextEncoder

    @property
    def name(self) -> ScorerName:
        """Return `similarity`."""
        return "similarity"

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of model, thresholds and code."""
        return hash_fields("similarity", _VERSION, self.encoder.fingerprint, self.thresholds.values)

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        """Return for each claim the passage that is, or holds a sentence, nearest in meaning."""
        claims = [(state(claim), passages) for claim, passages in claims]
        known = _Readable(self.encoder)
        asked = [claim for claim, _ in claims if known.is_readable(claim)]
        pieces = [
            piece
            for claim, passages in claims
            if known.is_readable(claim)
            for passage in passages
            for piece in known.pieces(passage)[1]
        ]
        queries = encode_each(asked, self.encoder.encode_queries)
        vectors = encode_each(pieces, self.encoder.encode_passages)
        return [self._judge(claim, passages, known, queries, vectors) for claim, passages in claims]

    def _judge(
        self,
        claim: str,
        passages: Sequence[PassageText],
        known: "_Readable",
        queries: dict[str, Vectors],
        vectors: dict[str, Vectors],
    ) -> Judgement:
        if claim not in queries:
            return _unread(claim, passages, "sentence")
        best, span, score, left_out = -1, (0, 0), -1.0, 0
        for index, passage in enumerate(passages):
            spans, pieces = known.pieces(passage)
            left_out += len(passage.sentences) - len(spans)
            if not spans:
                continue
            values = cosines(np.stack([vectors[piece] for piece in pieces]), queries[claim])
            # What is shown is always a sentence, though the whole passage be nearer.
            if float(values.max()) > score:
                best, score = index, float(values.max())
                span = spans[int(np.argmax(values[: len(spans)]))]
        if best < 0:
            return _unread(claim, passages, "passages")
        count = sum(len(passage.sentences) for passage in passages)
        note = (
            "Sentences left out, because the embedding model does not know their words: "
            f"{left_out} of {count}."
            if left_out
            else None
        )
        judgement = self._verdict(max(score, 0.0), best, span, note)
        return hold_against_facts(judgement, claim, passages)

    def _verdict(
        self, score: float, best: int, span: tuple[int, int], note: str | None
    ) -> Judgement:
        status, code = self.thresholds.decide(score)
        found = f"similarity {show_score(score)}"
        ok, weak = show_score(self.thresholds.ok), show_score(self.thresholds.weak)
        reason = {
            "OK": f"Close in meaning to the passage ({found}; OK from {ok}).",
            "WEAK": f"Related to the passage, but not close ({found}; OK from "
            f"{ok}). Cite a better passage, or say less.",
            "MISSING": f"Nothing in the cited document comes close ({found}; WEAK from "
            f"{weak}). Cite the source that says it.",
        }[status]
        return Judgement(score, status, code, reason, best, span, note=note)


def _unread(claim: str, passages: Sequence[PassageText], what: str) -> Judgement:
    """Return what holds where nothing was compared: the passage to read, and its facts."""
    # Of equals the first: passages come best first.
    best, span = max(
        ((index, span) for index, passage in enumerate(passages) for span in passage.sentences),
        key=lambda place: coverage(claim, passages[place[0]].text[slice(*place[1])]),
    )
    judgement = Judgement(
        0.0, "WEAK", "unread",
        "This is the nearest passage, and nobody has read it. Read it yourself.", best, span,
        note=f"The embedding model does not know the words of the {what}: nothing was compared. "
        "Set verify.scorer to llm, and a language model reads, or to facts.",
    )  # fmt: skip
    return hold_against_facts(judgement, claim, passages)


class _Readable:
    """Remembers which texts a model can read."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder
        self._known: dict[str, bool] = {}

    def is_readable(self, text: str) -> bool:
        if text not in self._known:
            self._known[text] = self._encoder.unknown_share(text) <= MAX_UNKNOWN_SHARE
        return self._known[text]

    def pieces(self, passage: PassageText) -> tuple[list[tuple[int, int]], list[str]]:
        """Return the sentences that can be read, and their texts; last the whole, where it can."""
        readable = [
            (span, said)
            for span, said in zip(passage.sentences, passage.said, strict=True)
            if self.is_readable(said)
        ]
        spans, texts = [span for span, _ in readable], [said for _, said in readable]
        return spans, texts + [passage.text] * self.is_readable(passage.text)


def encode_each(texts: Iterable[str], encode: Callable[[list[str]], Vectors]) -> dict[str, Vectors]:
    """Return the vector of each text; equal texts are encoded once.

    Raises:
        ConfigurationError: the model returned vectors that cannot be compared.
    """
    wanted = list(dict.fromkeys(texts))
    if not wanted:
        return {}
    vectors = encode(wanted)
    if vectors.ndim != 2 or vectors.shape[0] != len(wanted):
        raise ConfigurationError(
            f"The embedding model returned the shape {vectors.shape} for {len(wanted)} texts. "
            "`rag doctor` checks the model."
        )
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise ConfigurationError(
            "The embedding model returned a number that is not finite for "
            f"{wanted[int(np.argmin(finite))]!r}. `rag doctor` checks the model."
        )
    return dict(zip(wanted, vectors, strict=True))


# From settings to a scorer.


def load_scorer(
    settings: VerifySettings, encoder: TextEncoder | None = None, chat: "ChatModel | None" = None
) -> Scorer:
    """Return the scorer that the settings name. Models are loaded when first needed.

    Args:
        settings: `verify` of a namespace.
        encoder: the namespace's embedding model; only `similarity` asks it.
        chat: the language model that reads (`open_verifying_model`); for `llm` and `auto`, of
            which the second takes the model that comes along where there is none.

    Raises:
        ConfigurationError: thresholds contradict each other, a model is missing or not named.
    """
    if settings.scorer == "similarity":
        if encoder is None:
            raise ConfigurationError(
                "verify.scorer: similarity compares vectors and was given no embedding model. Name "
                "one in `embed.models`, or set verify.scorer to facts."
            )
        return SimilarityScorer(spec_thresholds(settings), encoder)
    if settings.scorer == "facts":
        return FactsScorer()
    # What it needs takes time to import, and the others do not need it.
    from rag_assets.judging.readers import load_reader_scorer

    is_taught = settings.scorer == "reader" or (settings.scorer == "auto" and chat is None)
    return load_reader_scorer(settings.llm, chat, "reader" if is_taught else "llm")


def open_verifying_model(workspace: "Workspace") -> "ChatModel | None":
    """Return the language model that a workspace's scorer reads with, None where it asks none.

    For `auto` it is the one that `llm` names, else the reader of this machine, else none. What it
    answered before is not asked again.

    Raises:
        ConfigurationError: the model that is named cannot be opened.
    """
    settings = workspace.settings
    if settings.verify.scorer not in ("auto", "llm"):
        return None
    from rag_assets.llm import open_chat_model, with_local_reader

    chosen = settings.llm.for_role("verify")
    if settings.verify.scorer == "auto":
        chosen = with_local_reader(chosen)
    return open_chat_model(workspace, chosen, remember=True)
