"""What every asset shows in the UI: digest, counts, seconds, a table by name, a preview.

The UI renders Markdown: a picture in it is fetched as soon as the page is opened. So names, reasons
and texts, which others wrote, stand in cells of a table, which are plain, or are escaped or fenced.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from rag_assets.model import DocumentStatus, StageOutcome
from rag_assets.model.markdown import code_span, escape_inline, fence
from rag_assets.workspace import Workspace

# Rows of a table in the UI; more make its pages slow, and `rag documents` lists them all.
_MOST_ROWS = 500
# Documents in trouble that every partition of a run names; its own stand under "not ok" as well.
_MOST_FAILED = 20

Metadata = dict[str, Any]


def document_table(documents: Sequence[DocumentStatus]) -> dg.TableMetadataValue:
    """Return documents as a table: name, status, reason, then the figures of the stage."""
    names = sorted({name for document in documents for name in document.figures})
    # Trouble first: a failed document must be seen without scrolling.
    ordered = sorted(documents, key=lambda d: (d.status in {"ok", "published"}, d.name))
    return table(
        ("name", "status", "reason", *names),
        (
            (d.name, d.status, d.reason, *(_cell(d.figures.get(name, "")) for name in names))
            for d in ordered[:_MOST_ROWS]
        ),
    )


def table(names: Sequence[str], rows: Iterable[Sequence[str | int]]) -> dg.TableMetadataValue:
    """Return rows as a table: a column of whole numbers where its first cell is one."""
    records = [dg.TableRecord(dict(zip(names, row, strict=True))) for row in rows]
    first = records[0].data if records else {}
    types = ("int" if isinstance(first.get(name), int) else "string" for name in names)
    return dg.TableMetadataValue(
        records,
        dg.TableSchema([dg.TableColumn(*column) for column in zip(names, types, strict=True)]),
    )


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def outcome_metadata(outcome: StageOutcome) -> Metadata:
    """Return the metadata of one partition."""
    # In the order in which a person asks: how many, which, what went wrong, how it looks.
    metadata: Metadata = {**outcome.counts, "table": document_table(outcome.documents)}
    failed = [d for d in outcome.documents if d.status != "ok"]
    if failed:
        metadata["not ok"] = dg.MetadataValue.md(document_list(failed))
    metadata.update(warnings_metadata(outcome.warnings))
    if outcome.preview:
        metadata["preview"] = dg.MetadataValue.md(outcome.preview)
    metadata["computed"] = outcome.computed
    metadata["seconds"] = round(outcome.seconds, 3)
    metadata["digest"] = outcome.digest
    return metadata


def warnings_metadata(warnings: Sequence[str]) -> Metadata:
    """Return warnings as metadata, for the UI and for the commands that print them."""
    return {"warnings": table(("warning",), ((each,) for each in warnings))} if warnings else {}


def text_preview(text: str) -> dg.MarkdownMetadataValue:
    """Return a text as it is written, Markdown or not: nothing in it is rendered."""
    return dg.MetadataValue.md(fence(text))


def document_list(documents: Iterable[DocumentStatus]) -> str:
    """Return documents with their reasons as a Markdown list."""
    return bullet_list(
        f"{code_span(d.name)} — {d.status}: {escape_inline(d.reason, opens=False)}"
        for d in documents
    )


def copies_metadata(workspace: Workspace, files: Mapping[Path, Path]) -> Metadata:
    """Return the audit's file of each of several equal drafts; nothing for a single one."""
    if len(files) < 2:
        return {}
    named = {path.relative_to(workspace.root).as_posix(): str(f) for path, f in files.items()}
    return {"copies": dg.MetadataValue.json(named)}


def bullet_list(items: Iterable[str]) -> str:
    """Return items, each Markdown of ours on one line, as a list."""
    return "\n".join(f"- {item}" for item in items)


def sentence_list(sentences: Iterable[str]) -> str:
    """Return sentences, which may quote what others wrote, as a Markdown list."""
    return bullet_list(map(escape_inline, sentences))


def run_metadata(outcomes: Mapping[str, StageOutcome]) -> Metadata:
    """Return the totals of a run over several partitions; nothing for a single one.

    An asset's overview shows one partition's metadata, whichever was stored last, and with few
    documents most partitions are empty: without the totals it looks as if nothing was there.
    """
    if len(outcomes) < 2:
        return {}
    totals = Counter[str]()
    for outcome in outcomes.values():
        totals.update(outcome.counts)
        totals["computed"] += outcome.computed
    keys = list(outcomes)
    listed = ", ".join(f"{total} {name}" for name, total in totals.items())
    failed = [d for outcome in outcomes.values() for d in outcome.documents if d.status != "ok"]
    told = f"{len(outcomes)} partitions, {keys[0]} to {keys[-1]}: {listed}."
    if failed:
        more = len(failed) - _MOST_FAILED
        told += f"\n\n{document_list(failed[:_MOST_FAILED])}"
        told += f"\n- … and {more} more" if more > 0 else ""
    return {"whole run": dg.MetadataValue.md(told)}


def report_partitions(
    context: dg.AssetExecutionContext, outcomes: Mapping[str, StageOutcome]
) -> None:
    """Give each partition of a range run its own metadata, and say in the log what changed.

    The totals of the run come first in each.
    """
    whole = run_metadata(outcomes)
    for partition, outcome in outcomes.items():
        context.add_asset_metadata({**whole, **outcome_metadata(outcome)}, partition_key=partition)
        for warning in outcome.warnings:
            context.log.warning(warning)
        for document in outcome.documents:
            if document.status != "ok":
                context.log.warning(f"{document.name}: {document.status}: {document.reason}")
    computed = sum(outcome.computed for outcome in outcomes.values())
    context.log.info(f"{computed} documents computed in {len(outcomes)} partitions")
