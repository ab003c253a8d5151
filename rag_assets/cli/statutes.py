"""`rag law`: articles and wordings of statutes, and what to look at among them."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_assets.cli.options import (
    OutputPath,
    RenamedGroup,
    as_of_option,
    json_option,
    namespace_option,
    open_namespaces,
    open_workspace,
    print_json,
    read_models_ahead,
)
from rag_assets.model import UsageError, count_of
from rag_assets.workspace import Namespace

if TYPE_CHECKING:
    from rag_assets.law.curating import Finding
    from rag_assets.retrieval.statutes import FoundArticle, LawShelf, LawVersion
    from rag_assets.retrieval.vaults import Curation

_RENAMED = {
    "cite": "Use `rag law article`, which takes a citation.",
    "curate": "Use `rag law check`.",
}


@click.group(
    cls=RenamedGroup,
    renamed=_RENAMED,
    help="Show articles and wordings of statutes, by name and day.",
)
def law() -> None:
    """Group of the commands about statutes."""


@law.command(
    help="Find articles that answer QUESTION, in the wording in force: each whole, below its law "
    "and path, with the citation that leads back to it. `rag ask --law` shows those that are "
    "likely to answer."
)
@click.argument("question")
@as_of_option
@click.option(
    "--all-versions",
    is_flag=True,
    help="Also find superseded wordings.",
)
@click.option("--namespace", "-n", "names", multiple=True, metavar="NAME",
              help="Search only this namespace; may be repeated.")  # fmt: skip
@click.option("--top-k", type=click.IntRange(1, 100), help="Passages; else retrieve.top_k.")
@click.option("--explain", "explains", is_flag=True, help="Print how each score was made.")
@json_option
def search(
    question: str,
    as_of: datetime | None,
    all_versions: bool,
    names: tuple[str, ...],
    top_k: int | None,
    explains: bool,
    as_json: bool,
) -> None:
    """Search statutes."""
    workspace = open_workspace()
    read_models_ahead(workspace)
    from rag_assets.desk.tools import describe_search
    from rag_assets.retrieval import OpenedLibrary, explain_hit
    from rag_assets.retrieval.statutes import search_statutes

    with OpenedLibrary(workspace) as library:
        found = search_statutes(
            library, question, _day(as_of), namespaces=names, top_k=top_k, all_versions=all_versions
        )
    if as_json:
        print_json(describe_search(found))
        return
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)
    if not found.found:
        click.echo("no passage of a statute was found")
        return
    for one in found.found:
        click.echo(f"{one.rank}. {one.source}")
        if explains:
            click.echo("".join(f"   {line}\n" for line in explain_hit(one.hit).splitlines()))
        for article in one.articles:
            click.echo(f"{article.text}\n{article.citation}\n{article.version.shown_standing}\n")
        if not one.articles:
            mark = one.hit.law
            standing = (mark.repeal or mark.standing) if mark is not None else ""
            click.echo(f"{one.text}\n{{#{one.hit.doc_uid}}}, {standing}\n")
        for reason in one.unresolved:
            click.echo(f"not cited: {reason}\n")


@law.command(
    help="Print the article ARTICLE of LAW (刑法 133之一, 行政复议法 第十条第一款), cut out "
    "exactly, in the wording in force. LAW may name both: 刑法第133条之一, 劳动合同法第5至7条, "
    "'Criminal Law art. 264', or a citation, [law > chapter > article]; exit code 3 where it names "
    "nothing."
)
@click.argument("name", metavar="LAW")
@click.argument("article", metavar="ARTICLE", required=False)
@as_of_option
@json_option
def article(name: str, article: str | None, as_of: datetime | None, as_json: bool) -> None:
    """Look an article up."""
    with _shelf(as_of) as shelf:
        found = shelf.articles(name if article is None else f"[{name} > {article}]")
        if as_json:
            shown = [_article_json(one) for one in found]
            print_json(shown if len(shown) > 1 else shown[0])
            return
        for place, one in enumerate(found):
            lead = "\n" if place else ""
            click.echo(f"{lead}{one.text}\n\n{one.citation}\n{one.version.shown_standing}")


@law.command(help="List the wordings of LAW, since when each holds, and which is in force.")
@click.argument("name", metavar="LAW")
@as_of_option
@json_option
def versions(name: str, as_of: datetime | None, as_json: bool) -> None:
    """List versions."""
    with _shelf(as_of) as shelf:
        found = shelf.versions(name)
    if as_json:
        print_json([_version_json(one) for one in found])
        return
    for one in found:
        stated = "" if one.is_stated else " (the text does not say; the day of its wording)"
        click.echo(
            f"{one.version_date}  {one.standing}  {one.title}\n"
            f"   holds from {one.holds_from or 'a day that is not known'}{stated}\n"
            f"   {one.wording.issuer or 'issuer not known'}, "
            f"{one.wording.law_level or 'level not known'}; {{#{one.law.doc_uid}}}, {one.law.file}"
        )
        if one.judged.repeal is not None:
            click.echo(f"   {one.judged.repeal.shown}")


@contextmanager
def _shelf(as_of: datetime | None) -> "Iterator[LawShelf]":
    from rag_assets.retrieval import OpenedLibrary
    from rag_assets.retrieval.statutes import LawShelf

    with OpenedLibrary(open_workspace()) as library, library.hold() as held:
        yield LawShelf(held, _day(as_of))


def _day(as_of: datetime | None) -> date:
    """Return the day that is asked for: the one place here that knows what day it is."""
    return as_of.date() if as_of is not None else date.today()


def _article_json(found: "FoundArticle") -> dict[str, Any]:
    return {
        "citation": found.citation,
        "law": found.law_title,
        "path": list(found.path),
        "article": found.shown,
        "clause": found.clause,
        "text": found.text,
        "char_start": found.start,
        "char_end": found.end,
        "version": _version_json(found.version),
    }


def _version_json(version: "LawVersion") -> dict[str, Any]:
    from rag_assets.law.versions import LAW_COLUMNS

    law, wording = version.law, version.wording
    return {
        "namespace": law.namespace,
        "doc_uid": law.doc_uid,
        "content_hash": law.content_hash,
        "file": law.file,
        "title": version.title,
        "standing": version.standing,
        "repeal": version.judged.repeal.shown if version.judged.repeal is not None else None,
        "holds_from": _plain(version.holds_from),
        "is_stated": version.is_stated,
        **{name: _plain(getattr(wording, name)) for name in LAW_COLUMNS},
        "origins": wording.origins,
        "dates": [
            {"kind": one.kind, "day": one.day.isoformat(), "char_start": one.start,
             "char_end": one.end}
            for one in wording.dates
        ],
    }  # fmt: skip


def _plain(value: "date | str | None") -> str | None:
    return value.isoformat() if isinstance(value, date) else value


# Findings of one rule that are printed; `--all` prints every one.
_SHOWN = 10


@law.command(
    "check",
    help="List what looks wrong among laws: empty files, equal texts, superseded wordings, files "
    "without articles, missing or unordered numbers, wrong titles. Changes nothing.",
)
@namespace_option
@as_of_option
@click.option("--all", "every", is_flag=True, help="Print every finding, not the first of a rule.")
@json_option
def check(names: tuple[str, ...], as_of: datetime | None, every: bool, as_json: bool) -> None:
    """Print what was found, by kind and rule."""
    from rag_assets.retrieval.vaults import curate_namespace

    found = [curate_namespace(namespace, _day(as_of)) for namespace in _of_laws(names)]
    if as_json:
        print_json([_curation_json(one) for one in found])
        return
    for one in found:
        for line in _table(one, None if every else _SHOWN):
            click.echo(line)


@law.command(
    help="Draw N raw files at random, every folder and size in turn, and copy them below DIR: a "
    "test vault. The same seed draws the same files."
)
@click.argument("count", metavar="N", type=click.IntRange(1))
@namespace_option
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, other files.")
@click.option(
    "--to", "target", type=OutputPath(is_folder=True), metavar="DIR",
    help="The folder that they are copied to; without it they are listed.",
)  # fmt: skip
@json_option
def sample(
    count: int, names: tuple[str, ...], seed: int, target: Path | None, as_json: bool
) -> None:
    """Copy or list a sample."""
    from rag_assets.retrieval.vaults import copy_sample, draw_sample

    namespaces = _of_laws(names)
    if len(namespaces) > 1:
        raise UsageError("a sample is drawn from one namespace: name it with --namespace.")
    (namespace,) = namespaces
    drawn = draw_sample(namespace, count, seed)
    if target is not None:
        copy_sample(namespace, drawn, target)
    if as_json:
        print_json([{"file": one.source_uri, "bytes": one.size} for one in drawn])
    elif target is not None:
        click.echo(f"{count_of(len(drawn), 'file')} in {target}")
    else:
        for one in drawn:
            click.echo(one.source_uri)


def _of_laws(names: tuple[str, ...]) -> list[Namespace]:
    """Return the namespaces that were named, else those of laws."""
    found = open_namespaces(names)
    chosen = found if names else [one for one in found if one.settings.chunk.mode == "law"]
    if not chosen:
        raise UsageError(
            "no namespace here is one of laws (`chunk.mode: law`). Name one with --namespace, or "
            "make one: `rag namespace add laws --template law`."
        )
    return chosen


def _curation_json(one: "Curation") -> dict[str, Any]:
    return {
        "namespace": one.namespace,
        "as_of": one.as_of,
        "files": one.files,
        "flagged": one.flagged,
        "counts": one.counts,
        "findings": [dataclasses.asdict(finding) for finding in one.findings],
    }


def _table(one: "Curation", shown: int | None) -> Iterator[str]:
    """Yield the lines of a curation: the counts of each kind, then its findings by rule."""
    yield (
        f"{one.namespace}: {one.flagged} of {count_of(one.files, 'file')} to look at, wordings as "
        f"of {one.as_of}; nothing was changed"
    )
    for kind, rules in one.counts.items():
        yield f"  {sum(rules.values()):>6}  {kind}"
    for (kind, rule), group in groupby(one.findings, key=lambda f: (f.kind, f.rule)):
        findings = list(group)
        yield f"\n{kind} · {rule} · {len(findings)}: {findings[0].advice}"
        for finding in findings[:shown]:
            yield from _row(finding)
        if shown is not None and len(findings) > shown:
            yield f"  … and {len(findings) - shown} more: --all"


def _row(finding: "Finding") -> Iterator[str]:
    from rag_assets.retrieval.vaults import place_of

    yield f"  {place_of(finding)}"
    yield f"      {finding.why}"
    yield from (f"      beside: {other}" for other in finding.others)
