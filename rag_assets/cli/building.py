"""`rag parse`, `chunk`, `embed`, `ingest`, `preview`, `export`: raw files become a library."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click

from rag_assets.cli.options import (
    DONE,
    FAILED,
    OutputPath,
    json_option,
    namespace_option,
    open_namespaces,
    open_with_models,
    open_workspace,
    print_json,
    say,
)
from rag_assets.cli.progress import shown_progress
from rag_assets.model import count_of
from rag_assets.workspace import Namespace, shipped_settings
from rag_assets.workspace.stages import partitioned, stage_names, switched_on, way_to

_ALL = stage_names()

# What a person is told of a stage: nothing of one that only passes on, and of most figures only
# where there is something to tell.
_TOLD = {
    "inventory": ("documents", "added", "removed", "replaced", "renamed"),
    "parse_reports": ("documents", "computed", "failed", "pages", "textless_pages", "seconds"),
    "parents": ("parents", "computed"),
    "chunks": ("chunks", "computed"),
    "chunk_edits": ("chunk_edits", "waiting"),
    "entities": ("entities",),
    "first_index": ("publication", "chunks"),
    "search_index": ("publication", "documents", "chunks", "seconds"),
}
_EVEN_ZERO = frozenset({"documents", "computed", "chunks", "parents"})
_WORDS = {
    "computed": "{} updated",
    "failed": "{} could not be read",
    "textless_pages": "{} pages without text",
    "seconds": "{} s",
    "publication": "published {}",
    "chunk_edits": "edits applied: {}",
    "waiting": "edits that wait: {}",
    "entities": "entities named {} times",
}
# How the stage `embeddings` begins the names of what it counts by model.
_ENCODED, _UNREADABLE = "encoded by ", "not readable by "
# Begins what each partition repeats of its run.
_WHOLE_RUN = "whole run"
_REHASH_TAG, _RETRY_TAG = "rag/rehash", "rag/retry"

rehash_option = click.option(
    "--rehash", is_flag=True, help="Hash every file again, ignoring time stamps."
)
retry_option = click.option(
    "--retry", is_flag=True, help="Retry documents that ran out of time or memory."
)


def run_stages(  # noqa: C901, PLR0912 - a kind of news each
    names: tuple[str, ...],
    stages: Sequence[str],
    as_json: bool,
    rehash: bool = False,
    retry: bool = False,
    leaves: Sequence[Literal["parsed", "chunks"]] = (),
) -> None:
    """Run stages of each namespace and say what they did.

    Args:
        leaves: readable folders that the command leaves; others that are there are kept up to date.
    """
    from rag_assets.chunking import merging_note
    from rag_assets.embedding import joint_tokenizer
    from rag_assets.publishing import describe_settled, lacks_documents
    from rag_assets.running import materialize_stages, register_saved_questions

    tags = {tag: "true" for tag, given in ((_REHASH_TAG, rehash), (_RETRY_TAG, retry)) if given}
    code, has_run = DONE, False
    report: dict[str, Any] = {}
    for namespace, models in open_with_models(names):
        is_asked = stages == _ALL and not tags
        settled = describe_settled(namespace, models) if is_asked else None
        if settled is not None:
            say(f"{namespace.name}: nothing has changed; nothing to do", quiet=as_json)
            for warning in settled["amiss"]:
                click.echo(f"warning: {warning}", err=True)
            report[namespace.name] = _nothing_to_do(namespace, settled)
            if lacks_documents(settled):
                code = FAILED
            continue
        has_run = True
        with shown_progress() as progress:
            outcome = materialize_stages(
                namespace, stages, tags=tags, on_progress=progress, will_parse=is_asked
            )
        summary = _summarise(namespace.name, stages, outcome.metadata)
        folders, problems = (
            _leave_folders(namespace, stages, leaves) if outcome.is_published else ([], [])
        )
        report[namespace.name] = {
            "success": outcome.is_success,
            "run_id": outcome.run_id,
            "stages": summary,
            "errors": list(outcome.errors),
            "folders": folders,
            "warnings": [*_warnings(outcome.metadata), *problems],
            "checks": [
                {"asset": c.asset, "check": c.name, "passed": c.passed, "severity": c.severity,
                 "description": c.description}
                for c in outcome.checks
            ],
        }  # fmt: skip
        for stage, figures in summary.items():
            told = _told(stage, figures)
            if told:
                say(f"{namespace.name}/{stage}: {told}", quiet=as_json)
        note = merging_note(
            namespace.settings.chunk, partial(joint_tokenizer, namespace.settings.embed)
        )
        if note is not None and "chunks" in summary:
            say(f"{namespace.name}/chunks: {note}", quiet=as_json)
        for folder in folders:
            say(f"to read: {folder}", quiet=as_json)
        for warning in report[namespace.name]["warnings"]:
            click.echo(f"warning: {warning}", err=True)
        for check in outcome.checks:
            if not check.passed:
                click.echo(
                    f"{check.severity}: {check.asset}: {check.name}: {check.description}", err=True
                )
        for error in outcome.errors:
            click.echo(f"error: {error}", err=True)
        if not outcome.is_success:
            code = FAILED
    workspace = open_workspace()
    # As a run does; without a question and an audit nothing of Dagster is imported.
    shown = (workspace.queries.glob("*.*"), workspace.outputs.glob("audits/*.json"))
    if not has_run and any(map(any, shown)):
        register_saved_questions(workspace)
    if as_json:
        print_json(report)
    click.get_current_context().exit(code)


def _leave_folders(
    namespace: Namespace, stages: Sequence[str], made: Sequence[Literal["parsed", "chunks"]]
) -> tuple[list[str], list[str]]:
    """Return the readable folders that were written or were up to date, and what is amiss."""
    if "parse_reports" not in stages:
        return [], []
    from rag_assets.publishing import refresh_readable

    folders, problems = refresh_readable(namespace, made)
    return [str(folder) for folder in folders], problems


def _nothing_to_do(namespace: Namespace, state: dict[str, Any]) -> dict[str, Any]:
    """Return the report of an ingest that found nothing to do: every stage computed nothing."""
    from rag_assets.publishing import lacks_documents

    counts = state["counts"]
    stages: dict[str, dict[str, Any]] = {
        stage: {"documents": counts["documents"], "computed": 0}
        for stage in partitioned(switched_on(_ALL, namespace.settings))
    }
    stages["search_index"] = {"publication": state["publication"], **counts}
    return {
        "success": not lacks_documents(state), "run_id": None, "stages": stages, "errors": [],
        "warnings": list(state["amiss"]), "checks": [],
    }  # fmt: skip


def _warnings(metadata: Any) -> list[str]:
    """Return what the assets warned of, each sentence once, in the order of the stages."""
    found = []
    for shown in metadata.values():
        parts = [shown, *(part for part in shown.values() if isinstance(part, dict))]
        for part in parts:
            found += [row["warning"] for row in part.get("warnings", ())]
    return list(dict.fromkeys(found))


def _told(stage: str, figures: Mapping[str, float | str]) -> str:
    """Return what a person wants to know of a stage, in one line; all figures stand in the JSON."""
    if stage == "embeddings":
        return "; ".join(_vectors_told(figures))
    shown = [
        _WORDS[name].format(value) if name in _WORDS else _figure(value, name)
        for name, value in figures.items()
        if name in _TOLD.get(stage, ()) and (value or name in _EVEN_ZERO)
    ]
    return ", ".join(shown)


def _vectors_told(figures: Mapping[str, float | str]) -> Iterator[str]:
    if "embeddings" not in figures:
        return  # there are no documents
    made = sum(int(value) for name, value in figures.items() if name.startswith(_ENCODED))
    yield (
        f"{count_of(int(figures['embeddings']), 'passage')}, {count_of(made, 'vector')} made now, "
        f"{figures['seconds']} s"
    )
    for name, value in figures.items():
        if value and name.startswith(_UNREADABLE):
            yield (
                f"{count_of(int(value), 'passage')} in words that "
                f"{name.removeprefix(_UNREADABLE)} does not know: found by words and other models"
            )


def _figure(value: float | str, name: str) -> str:
    """Return `2 textless pages` or `1 textless page`; figures have the names of several."""
    words = name.replace("_", " ")
    is_one = value == 1 and isinstance(value, int) and words.endswith("s")
    return f"{value} {words.removesuffix('s') if is_one else words}"


def _summarise(
    name: str, stages: Sequence[str], metadata: Any
) -> dict[str, dict[str, int | float | str]]:
    """Return a few figures a stage: sums over its partitions."""
    summary: dict[str, dict[str, int | float | str]] = {}
    for stage in stages:
        found = metadata.get(f"{name}/{stage}")
        if not found:
            continue
        totals: dict[str, int | float | str] = {}
        for part in found.values() if partitioned((stage,)) else [found]:
            for figure, value in part.items():
                is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
                if is_number and not figure.startswith((_WHOLE_RUN, "mean_")):
                    totals[figure] = round(float(totals.get(figure, 0)) + value, 3)
                    if isinstance(value, int):
                        totals[figure] = int(totals[figure])
                elif figure == "publication":
                    totals[figure] = value
        if "seconds" in totals:
            totals["seconds"] = totals.pop("seconds")  # last
        summary[stage] = totals
    return summary


@click.command(
    help="Scan raw/ and parse what changed; write meta/parse_quality_report.md, the briefs of "
    "raw/instruction/ and the readable folder parsed/. `rag preview FILE` looks at one file."
)
@namespace_option
@rehash_option
@retry_option
@json_option
def parse(names: tuple[str, ...], rehash: bool, retry: bool, as_json: bool) -> None:
    """Run up to `parse_reports`."""
    run_stages(names, way_to("parse_reports"), as_json, rehash, retry, ["parsed"])


@click.command(
    help="Scan, parse and cut what changed into parents and chunks; write the readable folder "
    "chunks/."
)
@namespace_option
@json_option
def chunk(names: tuple[str, ...], as_json: bool) -> None:
    """Run up to `chunks`."""
    run_stages(names, way_to("chunks"), as_json, leaves=["parsed", "chunks"])


@click.command(
    help="Everything up to a vector for every chunk, and publish it: what `rag query` searches."
)
@namespace_option
@json_option
def embed(names: tuple[str, ...], as_json: bool) -> None:
    """Run up to `embeddings`, then `search_index`: there need be no command before `query`."""
    run_stages(names, way_to("search_index"), as_json)


@click.command(help="Everything from raw/ to a publication; what did not change costs nothing.")
@namespace_option
@rehash_option
@retry_option
@json_option
def ingest(names: tuple[str, ...], rehash: bool, retry: bool, as_json: bool) -> None:
    """Run all stages."""
    run_stages(names, _ALL, as_json, rehash, retry)


_file = click.argument(
    "file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
_namespace = click.option(
    "--namespace", "-n", "name", metavar="NAME",
    help="Use this namespace's settings; without it the shipped ones.",
)  # fmt: skip
_password = click.option("--password", help="Of a protected file.")


@click.command(
    help="Show how FILE would be parsed and cut: chunks with place, span, section, size. --blocks "
    "lists the blocks as they were parsed. Without FILE: list what can be read, by which parser "
    "and version, parsers of your own (entry points) included. Stores nothing."
)
@_file
@_namespace
@_password
@click.option("--whole", is_flag=True, help="Print chunks whole instead of their beginning.")
@click.option("--blocks", is_flag=True, help="List the parsed blocks instead of chunks.")
@json_option
def preview(
    file: Path | None, name: str | None, password: str | None, whole: bool, blocks: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Print the preview."""
    from rag_assets.knowledge.previewing import PreviewSource, render_lines

    if file is None:
        from rag_assets.parsing import describe_parsers

        described = describe_parsers()
        if as_json:
            print_json([dataclasses.asdict(line) for line in described])
        for one in () if as_json else described:
            extensions = f" (.{', .'.join(one.extensions)})" if one.extensions else ""
            click.echo(f"{one.parser:<18} {one.media_type}{extensions}")
            click.echo(f"    {one.origin}, version {one.version}")
        return
    settings = open_namespaces((name,))[0].settings if name else shipped_settings()
    source = PreviewSource(file, password=password)
    if blocks:
        document = source.parse(settings)
        for order, block in enumerate(document.blocks):
            place = f"page {block.page} " if block.page else ""
            level = f" {block.level}" if block.level else ""
            text = " ".join(document.text[block.start : block.end].split())
            click.echo(f"{order:>5} {place}{block.kind}{level}: {text}")
        return
    found = source.chunk(settings=settings)
    if as_json:
        print_json(
            {
                "report": dataclasses.asdict(found.report),
                "parents": [dataclasses.asdict(parent) for parent in found.parents],
                "chunks": [dataclasses.asdict(chunk) for chunk in found.chunks],
                **({"articles": found.articles} if found.articles else {}),
            }
        )
    else:
        for line in render_lines(found, whole=whole):
            click.echo(line)


_folder = click.argument("folder", required=False, type=OutputPath(is_folder=True))


@click.group(help="Write folders and tables of what was made, for other programs.")
def export() -> None:
    """Hold the commands of this group."""


@export.command(
    help="Write Markdown, JSON and figures of every parsed document, a folder each. FOLDER gets a "
    "folder per namespace; the default is `parsed` in the workspace."
)
@_folder
@namespace_option
def parsed(folder: Path | None, names: tuple[str, ...]) -> None:
    """Export the parses of each namespace."""
    from rag_assets.publishing import export_parsed, readable_folder

    for namespace in open_namespaces(names):
        place = folder / namespace.name if folder else readable_folder(namespace, "parsed")
        count, problems = export_parsed(namespace, place)
        for problem in problems:
            click.echo(problem, err=True)
        click.echo(f"{namespace.name}: {count_of(count, 'document')} in {place}")


@export.command(
    help="Write parents.jsonl, chunks.jsonl and chunk_manifest.json. FOLDER gets a folder per "
    "namespace; the default is `chunks` in the workspace."
)
@_folder
@namespace_option
def chunks(folder: Path | None, names: tuple[str, ...]) -> None:
    """Export the parents and chunks of each namespace."""
    from rag_assets.publishing import export_chunks, readable_folder

    for namespace in open_namespaces(names):
        place = folder / namespace.name if folder else readable_folder(namespace, "chunks")
        parents, count = export_chunks(namespace, place)
        click.echo(
            f"{namespace.name}: {count_of(parents, 'parent')} and "
            f"{count_of(count, 'chunk')} in {place}"
        )


@export.command(
    help="Write knowledge_sources, knowledge_docs and knowledge_chunks, as `rag sql` shows them, "
    "as Lance tables that LanceDB opens. FOLDER is new or empty: a copy of what is published and "
    "drafted now."
)
@click.argument("folder", type=OutputPath(is_folder=True))
@namespace_option
def tables(folder: Path, names: tuple[str, ...]) -> None:
    """Export the three tables of a knowledge library."""
    from rag_assets.tracing import export_knowledge

    written = export_knowledge(open_workspace(), folder, names or None)
    for table, rows in written.items():
        click.echo(f"{table}: {count_of(rows, 'row')} in {folder / table}.lance")
