"""`rag lab import`: an export, or experiments of before from a sheet."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag_assets.cli.lab_options import by_option, now, opened_laboratory, who
from rag_assets.cli.options import json_option, print_json
from rag_assets.model import UsageError, count_of

if TYPE_CHECKING:
    from rag_assets.lab.importing import Understood

_SHEETS = frozenset({".xlsx", ".xlsm", ".csv", ".tsv"})
# Rows that are shown of what was understood, and of what was refused.
_SHOWN = 5


@click.command(
    "import",
    help="Put FILE into this laboratory. An export goes into an empty one, all of it or nothing. "
    "For a sheet of past experiments (xlsx, csv, tsv) the command prints what it understands and "
    "stores nothing without --write; each row becomes an imported run with its feedback.",
)
@click.argument(
    "source", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--sheet", metavar="NAME", help="Which sheet of the workbook.")
@click.option("--write", is_flag=True, help="Store what was understood.")
@click.option("--learn", is_flag=True, help="What the sheet says of the experiments teaches.")
@by_option
@json_option
def lab_import(
    source: Path, sheet: str | None, write: bool, learn: bool, by: str | None, as_json: bool
) -> None:
    """Import an export or experiments."""
    from rag_assets.lab.importing import import_experiments, read_sheet
    from rag_assets.lab.products import list_products

    lab = opened_laboratory()
    if source.suffix.casefold() not in _SHEETS:
        if sheet or write or learn:
            raise UsageError(f"{source} is an export, so the options of sheets do not apply.")
        with source.open(encoding="utf-8") as lines:
            count = lab.store.restore(lines)
        click.echo(f"{count_of(count, 'line')} imported")
        return
    with lab.store.reading() as reading:
        known = [product.name for product in list_products(reading)]
    understood = read_sheet(
        source.name, source.read_bytes(), known, lab.workspace.settings.parse, sheet
    )
    stored = None
    if write:
        stored = import_experiments(lab, understood, at=now(), by=who(by), learn=learn)
    if as_json:
        experiments = [
            {**asdict(one), "recipe": one.recipe.model_dump(mode="json")}
            for one in understood.experiments
        ]
        shown = {name: getattr(understood, name) for name in ("file", "sheet", "refused")}
        columns = [asdict(column) for column in understood.columns]
        print_json({**shown, "columns": columns, "experiments": experiments,
                    "stored": asdict(stored) if stored else None})  # fmt: skip
        return
    _print_understood(understood)
    if stored is None:
        click.echo(f"nothing is stored yet: `rag lab import {source} --write` stores it")
        return
    told = f"stored: {count_of(len(stored.runs), 'run')}"
    if stored.without_feedback:
        told += f", {stored.without_feedback} of them without a score and so without feedback"
    click.echo(told + (f"; {stored.known} were there already" if stored.known else ""))


def _print_understood(understood: "Understood") -> None:
    where = f", sheet '{understood.sheet}'" if understood.sheet else ""
    click.echo(f"{understood.file}{where}: headers in row {understood.header_row}")
    for column in understood.columns:
        if column.field is None:
            click.echo(f"  {column.header}: kept, not used")
        elif column.field == "product":
            unit = f" in {column.unit}" if column.unit else ", no unit given"
            click.echo(f"  {column.header}: measured value of {column.product}{unit}")
        else:
            click.echo(f"  {column.header}: {column.field}")
    if not any(column.field == "product" for column in understood.columns):
        click.echo("  no column of measured values: `rag lab products add NAME` names one")
    click.echo(f"{count_of(len(understood.experiments), 'experiment')} understood")
    for one in understood.experiments[:_SHOWN]:
        recipe = one.recipe
        values = ", ".join(f"{name} {value:g}" for name, value in one.values.items())
        score = "no score" if one.score is None else f"score {one.score:g}"
        click.echo(
            f"  row {one.row}: {recipe.M1}, {recipe.M2} {recipe.atomic_ratio}, "
            f"{recipe.small_molecule_modifier.name}: {values or 'nothing measured'}; {score}"
        )
    if len(understood.experiments) > _SHOWN:
        click.echo(f"  … and {len(understood.experiments) - _SHOWN} more")
    if understood.refused:
        click.echo(f"{count_of(len(understood.refused), 'row')} not understood")
    for row, why in understood.refused[:_SHOWN]:
        click.echo(f"  row {row}: {why}")
    if len(understood.refused) > _SHOWN:
        click.echo(f"  … and {len(understood.refused) - _SHOWN} more: --json lists all")
