"""Scorer `coverage`: the share of the claim's content words that a passage holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.evidence.wording import coverage
from rag_assets.judging.contract import (
    SCORE_DECIMALS,
    Judgement,
    PassageText,
    Thresholds,
    show_score,
)
from rag_assets.judging.facts import hold_against_facts
from rag_assets.judging.statement import state
from rag_assets.model import hash_fields
from rag_assets.settings import ScorerName

# Counts as code: raise it when the same texts come to another score or reason.
_VERSION = 4


@dataclass(frozen=True, slots=True)
class CoverageScorer:
    """Words in common, each counting the same."""

    thresholds: Thresholds

    @property
    def name(self) -> ScorerName:
        """Return `coverage`."""
        return "coverage"

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of thresholds and code."""
        return hash_fields("coverage", _VERSION, [self.thresholds.ok, self.thresholds.weak])

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        """Return for each claim the passage with the largest share of its words."""
        return [
            judge_by_coverage(state(claim), passages, self.thresholds, None)
            for claim, passages in claims
        ]


def judge_by_coverage(
    claim: str, passages: Sequence[PassageText], thresholds: Thresholds, note: str | None
) -> Judgement:
    """Return the judgement by words in common.

    Args:
        passages: at least one; the first of equals wins.
        note: why meaning was not compared, None where words were asked for.
    """
    shares = [coverage(claim, passage.text) for passage in passages]
    best = max(range(len(passages)), key=shares.__getitem__)
    passage = passages[best]
    span = max(passage.sentences, key=lambda s: coverage(claim, passage.text[slice(*s)]))
    score = round(shares[best], SCORE_DECIMALS)
    status, code = thresholds.decide(score)
    found = f"{show_score(score)} of its content words"
    ok, weak = show_score(thresholds.ok), show_score(thresholds.weak)
    reason = {
        "OK": f"Shares its words with the passage ({found}; OK from {ok}).",
        "WEAK": f"Shares only some of its words with the passage ({found}; OK from "
        f"{ok}). Cite a better passage, or say less.",
        "MISSING": f"Nothing in the cited document shares enough of its words ({found}; WEAK from "
        f"{weak}). Cite the source that says it.",
    }[status]
    judgement = Judgement(score, status, code, reason, best, span, note=note)
    return hold_against_facts(judgement, claim, passages)
