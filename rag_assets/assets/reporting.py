"""What every asset shows in the UI: digest, counts, seconds, a table by name, a preview.

The UI renders Markdown: a picture in it is fetched as soon as the page is opened. So names, reasons
and texts, which others wrote, stand in cells of a table, which are plain, or are escaped or fenced.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import dagster as dg

from rag_assets.model import DocumentStatus, StageOutcome, count_of
from rag_assets.model.markdown import code_span, escape_inline, fence
from rag_assets.workspace import Workspace

# Rows of a table in the UI; more make its pages slow, and `rag documents` lists them all.
_MOST_ROWS = 100
# Documents in trouble that every partition of a run names; its own stand under "not ok" as well.
_MOST_FAILED = 20
# Links to partitions that each of them repeats.
_MOST_LINKS = 32

# Begins the names of what is told of a run rather than of the partition that shows it.
WHOLE_RUN = "whole run"

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
    # In the order in which a person asks: how many, what failed, how long, which, how it looks.
    metadata: Metadata = {**_figures([outcome]), "table": document_table(outcome.documents)}
    failed = [d for d in outcome.documents if d.status != "ok"]
    if failed:
        metadata["not ok"] = dg.MetadataValue.md(document_list(failed))
    metadata.update(warnings_metadata(outcome.warnings))
    if outcome.preview:
        metadata["preview"] = dg.MetadataValue.md(outcome.preview)
    metadata["digest"] = outcome.digest
    return metadata


def _figures(outcomes: Collection[StageOutcome]) -> dict[str, int | float]:
    """Return numbers over partitions, which the UI plots: the usual questions first."""
    counts = Counter[str]()
    for outcome in outcomes:
        counts.update(outcome.counts)
    told = {"documents", "failed"}
    if len(outcomes) > 1:
        told |= {name for name in counts if name.startswith("mean_")}  # no sum of them
    failed = sum(each.status != "ok" for outcome in outcomes for each in outcome.documents)
    return {
        "documents": counts["documents"],
        "failed": failed,
        "seconds": round(sum(outcome.seconds for outcome in outcomes), 3),
        **{name: count for name, count in counts.items() if name not in told},
        "computed": sum(outcome.computed for outcome in outcomes),
    }


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


def run_metadata(asset: dg.AssetKey, outcomes: Mapping[str, StageOutcome]) -> Metadata:
    """Return the totals of a run over several partitions; nothing for a single one.

    An asset's overview shows one partition's metadata, whichever was stored last, and Dagster
    paints a partition that was built alike, be it empty. So each begins with the totals, as
    numbers, and with links to the partitions that hold documents.
    """
    if len(outcomes) < 2:
        return {}
    figures = _figures(outcomes.values())
    keys = list(outcomes)
    held = {key: len(outcome.documents) for key, outcome in outcomes.items() if outcome.documents}
    page = "/assets/" + "/".join(asset.path)
    links = [
        f"[{key}]({page}?view=partitions&partition={key}): {count_of(count, 'document')}"
        for key, count in list(held.items())[:_MOST_LINKS]
    ]
    links += [f"and {len(held) - _MOST_LINKS} more"] if len(held) > _MOST_LINKS else []
    told = f"Partitions {keys[0]} to {keys[-1]}, {len(held)} of {len(keys)} with documents."
    if links:
        told += f"\n\n{' · '.join(links)}"
    failed = [d for outcome in outcomes.values() for d in outcome.documents if d.status != "ok"]
    if failed:
        more = len(failed) - _MOST_FAILED
        told += f"\n\n{document_list(failed[:_MOST_FAILED])}"
        told += f"\n- … and {more} more" if more > 0 else ""
    totals = {f"{WHOLE_RUN}: {name}": figure for name, figure in figures.items()}
    return {**totals, WHOLE_RUN: dg.MetadataValue.md(told)}


def report_partitions(
    context: dg.AssetExecutionContext,
    outcomes: Mapping[str, StageOutcome],
    of_run: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Give each partition of a range run its own metadata, and say in the log what changed.

    The totals of the run come first in each, and `of_run`, what else is told of the run, last.
    """
    whole = run_metadata(context.asset_key, outcomes)
    for partition, outcome in outcomes.items():
        own = outcome_metadata(outcome)
        if whole and not outcome.documents and not outcome.warnings:
            # Noughts below the totals would be read as if nothing was there.
            own = {name: own[name] for name in ("documents", "digest")}
        context.add_asset_metadata({**whole, **own, **of_run}, partition_key=partition)
        for warning in outcome.warnings:
            context.log.warning(warning)
        for document in outcome.documents:
            if document.status != "ok":
                context.log.warning(f"{document.name}: {document.status}: {document.reason}")
    computed = sum(outcome.computed for outcome in outcomes.values())
    context.log.info(f"{computed} documents computed in {len(outcomes)} partitions")
