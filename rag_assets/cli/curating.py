"""`rag law curate`, `rag law sample`: what is amiss in a vault of laws, and a part of it."""

import dataclasses
from collections.abc import Iterator
from datetime import date, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_assets.cli.options import (
    OutputPath,
    json_option,
    namespace_option,
    open_namespaces,
    print_json,
)
from rag_assets.model import UsageError, count_of
from rag_assets.workspace import Namespace

if TYPE_CHECKING:
    from rag_assets.law.curating import Finding
    from rag_assets.retrieval.vaults import Curation

# Findings of one rule that are printed; `--all` prints every one.
_SHOWN = 10


@click.command(
    help="Say what to look at among laws: empty files, equal texts, superseded wordings, files "
    "without articles, numbers that are missing or out of order, titles that are none. Proposes, "
    "and changes nothing."
)
@namespace_option
@click.option(
    "--as-of", "as_of", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE",
    help="The day on which a wording has to hold; today without.",
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="Print every finding, not the first of a rule.")
@json_option
def curate(names: tuple[str, ...], as_of: datetime | None, every: bool, as_json: bool) -> None:
    """Print what was found, by kind and rule."""
    from rag_assets.retrieval.vaults import curate_namespace

    day = as_of.date() if as_of is not None else date.today()
    found = [curate_namespace(namespace, day) for namespace in _of_laws(names)]
    if as_json:
        print_json([_curation_json(one) for one in found])
        return
    for one in found:
        for line in _table(one, None if every else _SHOWN):
            click.echo(line)


@click.command(
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
