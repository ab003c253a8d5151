"""How well strong assertions are told from others: causal, comparative, hedged sentences."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from pydantic import BaseModel, ConfigDict, Field

from rag_assets.auditing.claims import AssertionType, Wording, read_wording
from rag_assets.cli.evaluating import finish, out_option
from rag_assets.cli.options import ExplainedErrors
from rag_assets.cli.progress import shown_progress
from rag_assets.evaluation.report import EvaluationReport, Figure, ReportTable, share
from rag_assets.evaluation.sets import read_rows
from rag_assets.model import Progress, UsageError, hash_fields

# Labels that say a sentence is of a type, and those that say it is not. A conditionally causal
# sentence ("may reduce") is worded as a cause and hedged: its type is causal, and the hedge is
# what keeps it from being flagged.
_TYPED: Mapping[str, tuple[AssertionType, frozenset[str]]] = {
    "CAUSAL": ("causal", frozenset({"CAUSAL", "CONDITIONAL_CAUSAL"})),
    "BETTER": ("comparative", frozenset({"BETTER", "WORSE"})),
}
_STRICT = "CAUSAL"
_HEDGED = "HEDGE"


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    sentence: str = Field(min_length=1)
    label: str = Field(min_length=1)
    set: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class _Row:
    sentence: str
    label: str
    wording: Wording


def evaluate_assertions(
    files: Sequence[Path], on_progress: Progress | None = None
) -> EvaluationReport:
    """Type the sentences of labelled sets and compare.

    Args:
        files: JSON lines with `sentence`, `label`, `set`. A set with CAUSAL is scored as causal
            detection (CAUSAL and CONDITIONAL_CAUSAL against the rest, and CAUSAL alone), one with
            BETTER as comparison (BETTER and WORSE against the rest), one with HEDGE by the share
            of hedged sentences that are flagged; of any other the share flagged by label is shown.

    Raises:
        UsageError: a line is not such a row, or a file holds none.
    """
    sets = _read(files, on_progress)
    metrics: dict[str, Figure] = {}
    typed: list[tuple[Figure, ...]] = []
    flagged: list[tuple[Figure, ...]] = []
    for name, rows in sorted(sets.items()):
        labels = {row.label for row in rows}
        for marker, (kind, positive) in _TYPED.items():
            if marker in labels:
                precision, recall, f1 = _scores(rows, kind, positive)
                metrics[f"{name}_{kind}_f1"] = f1
                typed.append((name, kind, len(rows), precision, recall, f1))
                if marker == _STRICT:
                    _, _, metrics[f"{name}_causal_alone_f1"] = _scores(
                        rows, kind, frozenset({_STRICT})
                    )
        for label in sorted(labels):
            of_label = [row for row in rows if row.label == label]
            strong = share(sum(row.wording.is_strong for row in of_label), len(of_label))
            if label == _HEDGED:
                metrics[f"{name}_hedged_flagged"] = strong
            kinds = Counter(row.wording.types[0] for row in of_label if row.wording.is_strong)
            shown = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common(3))
            hedged = share(
                sum(row.wording.exemption == "hedged" for row in of_label), len(of_label)
            )
            flagged.append((name, label, len(of_label), strong, hedged, shown))
    return EvaluationReport(
        evaluation="assertions",
        settings_digest=hash_fields("rules and weights that ship"),
        metrics=metrics,
        counts={"sentences": sum(map(len, sets.values())), "sets": len(sets)},
        tables=(
            ReportTable(
                "detection of a type, hedged or not",
                ("set", "type", "sentences", "precision", "recall", "F1"),
                tuple(typed),
            ),
            ReportTable(
                "share flagged as a strong assertion, by label",
                ("set", "label", "sentences", "flagged", "hedged", "mostly"),
                tuple(flagged),
            ),
        ),
    )


def _read(files: Sequence[Path], on_progress: Progress | None) -> dict[str, list[_Row]]:
    sets: dict[str, list[_Row]] = {}
    for file in files:
        rows = list(read_rows(file, _Line.model_validate, "a row has sentence, label and set"))
        for done, (_, row) in enumerate(rows, 1):
            read = _Row(row.sentence, row.label, read_wording(row.sentence))
            sets.setdefault(row.set, []).append(read)
            if on_progress is not None:
                on_progress(file.name, done, len(rows))
    if not sets:
        raise UsageError(f"{', '.join(map(str, files))}: no row with `sentence`, `label`, `set`.")
    return sets


def _scores(
    rows: Iterable[_Row], kind: AssertionType, positive: frozenset[str]
) -> tuple[float | None, float | None, float | None]:
    """Return precision, recall and F1 of a type."""
    pairs = [(kind in row.wording.types, row.label in positive) for row in rows]
    both = sum(found and true for found, true in pairs)
    found = sum(found for found, _ in pairs)
    true = sum(true for _, true in pairs)
    return share(both, found), share(both, true), share(2 * both, found + true)


@click.command(
    cls=ExplainedErrors,
    help="Type the sentences in FILES (JSON lines with sentence, label, set) and compare: F1 of "
    "causal detection (CAUSAL and CONDITIONAL_CAUSAL against the rest) and of comparisons (BETTER "
    "and WORSE against the rest), and the share of hedged sentences that are flagged as strong.",
)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
)  # fmt: skip
@out_option
def assertions(files: tuple[Path, ...], out: Path | None) -> None:
    """Print the figures of each set."""
    with shown_progress() as progress:
        report = evaluate_assertions(files, progress)
    finish(report, out)


if __name__ == "__main__":
    assertions()
