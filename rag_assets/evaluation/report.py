"""What every evaluation returns: figures under stable names, counts, tables; text and JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_assets import __version__
from rag_assets.model import align, hash_fields
from rag_assets.workspace import Settings

Figure = float | int | str | None
"""A cell: None is a figure that the rows give no occasion for, shown as a dash."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows under heads; columns of figures to the right, columns of words to the left.

    Args:
        title: one line above it.
        heads: name of each column.
        rows: cells, as many a row as there are heads.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Figure, ...], ...]

    def render(self) -> str:
        """Return the table as lines of text."""
        cells = [self.heads, *([_shown(value) for value in row] for row in self.rows)]
        figures = {
            column
            for column in range(len(self.heads))
            if not all(isinstance(row[column], str | None) for row in self.rows)
        }
        lines = align(cells, figures)
        return "\n".join([self.title, *(f"  {line}" for line in lines)])


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The outcome of one evaluation.

    Args:
        evaluation: its name, such as `retrieval`.
        settings_digest: from `settings_digest`.
        metrics: figures by name; they stand at the top level of the JSON.
        counts: what the figures were counted over.
        tables: for a person.
        details: for a program, by name, beside the metrics.
        failures: sentences; with any of them the evaluation has failed.
    """

    evaluation: str
    settings_digest: str
    metrics: Mapping[str, Figure]
    counts: Mapping[str, int]
    tables: tuple[ReportTable, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    failures: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return JSON-able values: the metrics by name, then how they came to be."""
        return {
            **self.metrics,
            "evaluation": self.evaluation,
            "version": __version__,
            "settings_digest": self.settings_digest,
            "counts": dict(self.counts),
            "failures": list(self.failures),
            **self.details,
        }

    def summary(self) -> str:
        """Return the report as text: counts, figures, tables (the name that spec 001 gives it)."""
        return self.render()

    def render(self) -> str:
        """Return the report as text for a terminal."""
        counted = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in
                            self.counts.items())  # fmt: skip
        origin = f"rag-assets {__version__}, settings {self.settings_digest[:12]}"
        parts = [
            f"{self.evaluation}: {counted}; {origin}",
            "\n".join(f"  {line}" for line in align([
                (name, _shown(value)) for name, value in self.metrics.items()
            ])),
            *(table.render() for table in self.tables),
            "\n".join(f"failed: {sentence}" for sentence in self.failures),
        ]  # fmt: skip
        return "\n\n".join(part for part in parts if part)


def settings_digest(settings: Settings) -> str:
    """Return the SHA-256 of all settings that an evaluation ran with."""
    return hash_fields(settings.model_dump(mode="json"))


def share(part: float, whole: float) -> float | None:
    """Return part ÷ whole, None where there is no whole."""
    return part / whole if whole else None


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, None of nothing."""
    return share(sum(values), len(values))


def _shown(value: Figure) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    return str(value)
