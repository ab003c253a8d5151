"""What every asset shows in the UI: digest, counts, seconds, a table by name, a preview.

The UI renders Markdown: a picture in it is fetched as soon as the page is opened. So names, reasons
and texts, which others wrote, stand in cells of a table, which are plain, or are escaped or fenced.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any

import dagster as dg

from rag_assets import __version__
from rag_assets.model import ConfigurationError, DocumentStatus, Progress, StageOutcome, count_of
from rag_assets.model.markdown import code_span, escape_inline, fence
from rag_assets.model.settings import Watching
from rag_assets.storage import Maker, working_as
from rag_assets.workspace import (
    Inventory,
    Namespace,
    Workspace,
    config_hash,
    configuration_digest,
    read_inventory,
)
from rag_assets.workspace.stages import partitioned, way_to

# Run tags; the sensors and the commands set them, a person may in the launchpad.
REHASH_TAG = "rag/rehash"
RETRY_TAG = "rag/retry"
STATE_TAG = "rag/state"
REASON_TAG = "rag/reason"

# Set by a command that shows progress on a terminal; runs of the daemon have none.
progress_reporter: ContextVar[Progress | None] = ContextVar("progress_reporter", default=None)

OWNERS = ["team:library"]

# The pool of steps that hold a model to encode with. How many may run at a time is the instance's
# to say (`configs/dagster-team.yaml`); one that says nothing lets all run.
ENCODERS = "encoders"


def publishers(namespace: str) -> str:
    """Return the pool of the steps that publish a namespace: limited to one, it has one builder."""
    return f"publish/{namespace}"


def reopen_namespace(workspace: Workspace, name: str, hex_digits: int) -> Namespace:
    """Return the namespace with its settings of this moment, not of when the code was loaded.

    Raises:
        ConfigurationError: its partitions are no longer those that Dagster knows.
    """
    namespace = Workspace.open(workspace.root).namespace(name)
    if namespace.settings.hex_digits != hex_digits:
        raise ConfigurationError(
            f"{workspace.namespace_file(name)}: 'hex_digits' is now "
            f"{namespace.settings.hex_digits}, but the assets were loaded with {hex_digits}. "
            "Reload the code location (Deployment page of the UI) or restart `dagster dev`."
        )
    return namespace


@contextmanager
def signed_work(
    context: dg.AssetExecutionContext, place: Namespace | Workspace, code_version: str
) -> Iterator[None]:
    """Sign what is stored inside the block with run, code version and configuration.

    Args:
        place: whose configuration the work follows.
    """
    digest = configuration_digest(place) if isinstance(place, Namespace) else config_hash(place)
    with working_as(Maker(context.run_id, code_version, digest, __version__)):
        yield


def flag(context: dg.AssetExecutionContext, tag: str) -> bool:
    """Say whether a run was started with a tag set to `true`."""
    return context.run.tags.get(tag) == "true"


def rest_seconds(context: dg.AssetExecutionContext) -> float | None:
    """Return how long a file must have been still, in runs that a sensor asked for.

    A command takes what is there now, a sensor only what nobody is copying any more.
    """
    is_of_sensor = STATE_TAG in context.run.tags
    return Watching.rest_seconds if is_of_sensor else None


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


# Documents listed; more make the page slow, and `rag trace` lists them all.
_MOST_DOCUMENTS = 100

Cited = tuple[str | None, str, str | None, str]
"""Namespace, doc_uid, SHA-256 of the document's bytes and how the output calls the row; None
where a citation could not be resolved."""


def lineage_metadata(workspace: Workspace, cited: Iterable[Cited]) -> Metadata:
    """Return the metadata `lineage`: each cited document, links to its stages, and its files."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for namespace, uid, content, row in cited:
        if namespace is not None and content is not None:
            rows.setdefault((namespace, uid, content), []).append(row)
    if not rows:
        return {}
    shown = list(rows.items())[:_MOST_DOCUMENTS]
    inventories = {
        name: read_inventory(workspace.namespace(name))
        for name in {name for (name, *_), _ in shown}
    }
    lines = [
        f"{code_span(uid)} (rows {escape_inline(', '.join(labels), opens=False)}): "
        f"{_links(workspace, namespace, content)} ← "
        f"{_files(inventories[namespace], content)}, SHA-256 {code_span(content[:16])}"
        for (namespace, uid, content), labels in shown
    ]
    if len(rows) > len(shown):
        lines.append(f"… and {len(rows) - len(shown)} more documents: `rag trace`")
    return {"lineage": dg.MetadataValue.md(bullet_list(lines))}


def _files(inventory: Inventory | None, content: str) -> str:
    found = inventory.contents.get(content) if inventory else None
    if found is None:
        return "bytes that raw/ does not hold any more"
    return ", ".join(code_span(source.source_uri) for source in found.sources)


def _links(workspace: Workspace, namespace: str, content: str) -> str:
    key = workspace.namespace(namespace).partition_of(content)
    between = [
        f"[{stage} {key}](/assets/{namespace}/{stage}?view=partitions&partition={key})"
        for stage in reversed(partitioned(way_to("chunks")))
    ]
    first, last = (
        f"[{stage}](/assets/{namespace}/{stage})" for stage in ("search_index", "inventory")
    )
    return " ← ".join((first, *between, last))
