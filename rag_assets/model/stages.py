"""What a stage reports: one shape for every stage, so that all assets show the same things."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

# Told (what, done, all) while a stage works; with 0 of 0, a sentence that a person should read now.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class DocumentStatus:
    """One document in a stage's table.

    Args:
        name: its first path, as a person knows it.
        status: `ok`, `failed`, `refused`, `withheld` or `pending`.
        reason: reason code and sentence of a failure, empty when ok.
        figures: what a person wants to see of it, for instance pages and characters.
    """

    name: str
    status: str
    reason: str = ""
    figures: Mapping[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StageOutcome:
    """What one stage did to one partition.

    Args:
        digest: of the partition's living content, whatever was computed when.
        documents: living documents, by name.
        counts: totals over them, for instance `chunks`.
        computed: documents whose rows were computed now; 0 when nothing had changed.
        seconds: wall time spent on this partition; provenance.
        warnings: sentences about the partition, for instance a record that was mended.
        preview: the beginning of the output, as Markdown.
    """

    digest: str
    documents: tuple[DocumentStatus, ...]
    counts: Mapping[str, int]
    computed: int
    seconds: float
    warnings: tuple[str, ...] = ()
    preview: str = ""
