"""Figures of verdicts on drafts with known truth: who is told from whom, and at what cost."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_assets.evaluation.drafts_rows import GROUPS, DraftRow, is_located
from rag_assets.evaluation.report import Figure, ReportTable, share
from rag_assets.publishing.content_words import content_units

# Sources are dealt out in turn, in the order of their names; no source is divided.
FOLDS = 5
# Shares of the supported sentences that one may want to be OK.
WANTED = (0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7)
_ALL = ("all", *GROUPS)


@dataclass(frozen=True, slots=True)
class Judged:
    """A row with its verdict.

    Args:
        score: 0 where nothing could be compared.
        shown: the passages that were judged, best first.
        is_opposed: whether the verdict says that the source, or a fact in it, is another.
    """

    row: DraftRow
    status: str
    score: float
    shown: tuple[str, ...] = ()
    is_opposed: bool = False

    @property
    def is_ok(self) -> bool:
        """Say whether the sentence would pass."""
        return self.status == "OK"


def figures(judged: Sequence[Judged]) -> dict[str, Figure]:
    """Return for all and for each group that has rows: `auc` of supported against not supported,
    `ok_supported`, `ok_partly`, `ok_unsupported`, and of the supported rows with quotations
    `located_first`, `located`: all of these stand in the first passage shown, in any.
    """
    found: dict[str, Figure] = {}
    for group in _ALL:
        of = [one for one in judged if group in ("all", one.row.group)]
        if of:
            found |= {f"{name}_{group}": value for name, value in _of_group(of).items()}
    return found


def _of_group(judged: Sequence[Judged]) -> dict[str, Figure]:
    supported, partly, other = (_labelled(judged, label) for label in _LABELS)
    quoted = [one for one in supported if one.row.evidence and one.shown]
    first = [is_located(one.row.evidence, one.shown[0]) for one in quoted]
    every = [is_located(one.row.evidence, "".join(one.shown)) for one in quoted]
    return {
        "auc": auc([one.score for one in supported], [one.score for one in other]),
        "ok_supported": ok_share(supported),
        "ok_partly": ok_share(partly),
        "ok_unsupported": ok_share(other),
        "located_first": share(sum(first), len(first)),
        "located": share(sum(every), len(every)),
    }


_LABELS = ("SUPPORTED", "PARTLY", "NOT")


def _labelled(judged: Sequence[Judged], label: str) -> list[Judged]:
    return [one for one in judged if one.row.label == label]


def ok_share(judged: Sequence[Judged]) -> float | None:
    """Return the share that is OK, None of nothing."""
    return share(sum(one.is_ok for one in judged), len(judged))


def auc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """Return the share of pairs in which the first scores higher; equal scores count half."""
    pairs = [(a > b) + 0.5 * (a == b) for a in higher for b in lower]
    return share(sum(pairs), len(pairs))


def group_table(judged: Sequence[Judged]) -> ReportTable:
    """Return the figures by language of sentence and source."""
    found = figures(judged)
    names = ("auc", "ok_supported", "ok_partly", "ok_unsupported", "located_first", "located")
    rows = [
        (group, sum(group in ("all", one.row.group) for one in judged),
         *(found[f"{name}_{group}"] for name in names))
        for group in _ALL
        if f"auc_{group}" in found
    ]  # fmt: skip
    heads = (
        "group", "rows", "AUC", "OK of supported", "OK of partly", "OK of not", "in first",
        "in all",
    )  # fmt: skip
    return ReportTable("By language", heads, tuple(rows))


def kind_table(judged: Sequence[Judged]) -> ReportTable:
    """Return the verdicts by the kind of sentence or error, the supported kinds first."""
    kinds = Counter((one.row.label, one.row.kind) for one in judged)
    order = sorted(kinds, key=lambda kind: (_LABELS.index(kind[0]), -kinds[kind], kind[1]))
    rows: list[tuple[Figure, ...]] = []
    for label, kind in order:
        of = [one for one in judged if (one.row.label, one.row.kind) == (label, kind)]
        statuses = Counter(one.status for one in of)
        mean = sum(one.score for one in of) / len(of)
        opposed = sum(one.is_opposed for one in of)
        counts = [statuses[status] for status in ("OK", "WEAK", "MISSING")]
        rows.append((label, kind, len(of), *counts, opposed, mean))
    heads = ("label", "kind", "rows", "OK", "WEAK", "MISSING", "told against", "mean score")
    return ReportTable("By kind", heads, tuple(rows))


def choice_table(judged: Sequence[Judged]) -> ReportTable:
    """Return what thresholds give that are chosen for a share of the supported sentences.

    Each is chosen on the other folds and counted on the sources that it has not seen.
    """
    fold = folds_of([one.row for one in judged])
    rows: list[tuple[Figure, ...]] = []
    for wanted in WANTED:
        chosen, passed = [], Counter[str]()
        for number in range(FOLDS):
            seen = [one for one in judged if fold[one.row.paper] != number]
            threshold = _threshold(seen, wanted)
            if threshold is None:
                continue
            chosen.append(threshold)
            passed.update(
                one.row.label
                for one in judged
                if fold[one.row.paper] == number and one.score >= threshold
            )
        if chosen:
            shares = [share(passed[label], len(_labelled(judged, label))) for label in _LABELS]
            rows.append((wanted, min(chosen), max(chosen), *shares))
    heads = (
        "wanted of supported", "from, least", "from, most", "OK of supported", "OK of partly",
        "OK of not",
    )  # fmt: skip
    title = f"Where OK could begin, chosen on {FOLDS - 1} of {FOLDS} folds of sources"
    return ReportTable(title, heads, tuple(rows))


def _threshold(judged: Sequence[Judged], wanted: float) -> float | None:
    """Return the highest score from which at least a share of the supported rows would be OK."""
    scores = sorted((one.score for one in _labelled(judged, "SUPPORTED")), reverse=True)
    return scores[math.ceil(wanted * len(scores)) - 1] if scores else None


def folds_of(rows: Sequence[DraftRow]) -> dict[str, int]:
    """Return source → number of its fold."""
    return {paper: n % FOLDS for n, paper in enumerate(sorted({row.paper for row in rows}))}


def judge_by_wording(rows: Sequence[DraftRow]) -> list[Judged]:
    """Return verdicts that look at the sentence alone: how much its form gives away.

    Naive Bayes over the content words of supported and unsupported rows of other sources; OK where
    supported is the likelier.
    """
    fold = folds_of(rows)
    odds = [_word_odds([row for row in rows if fold[row.paper] != n]) for n in range(FOLDS)]
    scores = [odds[fold[row.paper]](row.sentence) for row in rows]
    return [
        Judged(row, "OK" if score > 0 else "WEAK", score)
        for row, score in zip(rows, scores, strict=True)
    ]


def _word_odds(rows: Sequence[DraftRow]) -> Callable[[str], float]:
    counts = {
        label: Counter(_units(row.sentence for row in rows if row.label == label))
        for label in ("SUPPORTED", "NOT")
    }
    words = len(set().union(*counts.values()))

    def log_odds(sentence: str) -> float:
        total = 0.0
        for unit in sorted(set(_units([sentence]))):
            for label, sign in (("SUPPORTED", 1), ("NOT", -1)):
                seen = counts[label]
                total += sign * math.log((seen[unit] + 1) / (seen.total() + words + 1))
        return total

    return log_odds


def _units(sentences: Sequence[str] | Iterator[str]) -> Iterator[str]:
    for sentence in sentences:
        yield from content_units(sentence)
