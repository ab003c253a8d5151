"""`rag lab import`: events of an export, or experiments of before from a sheet."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_assets.cli.lab_options import by_option, now, opened_laboratory, who
from rag_assets.cli.options import json_option, print_json
from rag_assets.model import UsageError, count_of

if TYPE_CHECKING:
    from rag_assets.lab import Laboratory, Understood

_SHEETS = frozenset({".xlsx", ".xlsm", ".csv", ".tsv"})
# Rows that are shown of what was understood, and of what was refused.
_SHOWN = 5


@click.command(
    "import",
    help="Put FILE into this laboratory. An export (JSON lines) goes into an empty one, all of it "
    "or nothing. Of a sheet of past experiments (xlsx, csv, tsv) it is printed what was "
    "understood, and nothing stored before --write says so; each row becomes an imported run with "
    "its feedback.",
)
@click.argument(
    "source", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--sheet", metavar="NAME", help="Which sheet of the workbook.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="FIELD=HEADER",
    help="What a column is, where its header does not say it: M1, M2, ratio, catalyst, modifier, "
    "smiles, score, pros, cons, other, as_made, date; may be repeated.",
)
@click.option(
    "--product",
    "products",
    multiple=True,
    metavar="HEADER",
    help="A column of measured values of a product that is not in the catalogue yet; may be "
    "repeated. --write adds it.",
)
@click.option("--write", is_flag=True, help="Store what was understood.")
@click.option("--learn", is_flag=True, help="What the sheet says of the experiments teaches.")
@by_option
@json_option
def lab_import(
    source: Path,
    sheet: str | None,
    columns: tuple[str, ...],
    products: tuple[str, ...],
    write: bool,
    learn: bool,
    by: str | None,
    as_json: bool,
) -> None:
    """Import events or experiments."""
    from rag_assets.lab import import_events, import_experiments

    with opened_laboratory() as lab:
        if source.suffix.casefold() not in _SHEETS:
            if sheet or columns or products or write or learn:
                raise UsageError(f"{source} is no sheet: its events are imported as they are.")
            with source.open(encoding="utf-8") as lines:
                count = import_events(lab.store, lines)
            click.echo(f"{count_of(count, 'event')} imported")
            return
        understood = _understand(lab, source, sheet, columns, products)
        stored = None
        if write:
            stored = import_experiments(lab, understood, at=now(), by=who(by), learn=learn)
    if as_json:
        from dataclasses import asdict

        found: dict[str, Any] = {
            "file": understood.file,
            "sheet": understood.sheet,
            "columns": [asdict(column) for column in understood.columns],
            "experiments": [
                {"row": one.row, "run": one.run_id, "recipe": one.recipe.model_dump(mode="json"),
                 "values": dict(one.values), "score": one.score}
                for one in understood.experiments
            ],
            "refused": [asdict(one) for one in understood.refused],
            "stored": asdict(stored) if stored else None,
        }  # fmt: skip
        print_json(found)
        return
    _print_understood(understood)
    if stored is None:
        click.echo(f"nothing is stored yet: `rag lab import {source} … --write` stores it")
        return
    for name in stored.products:
        click.echo(f"added to the catalogue: {name}")
    told = f"stored: {count_of(len(stored.runs), 'run')}"
    if stored.without_feedback:
        told += f", {stored.without_feedback} of them without a score and so without feedback"
    click.echo(told + (f"; {stored.known} were there already" if stored.known else ""))


def _understand(
    lab: "Laboratory",
    source: Path,
    sheet: str | None,
    columns: tuple[str, ...],
    products: tuple[str, ...],
) -> "Understood":
    from rag_assets.lab import FIELDS, list_products, read_sheet

    said = {}
    for text in columns:
        field, _, header = text.partition("=")
        if field not in FIELDS or not header:
            raise UsageError(
                f"--column {text}: write FIELD=HEADER, the field one of {', '.join(FIELDS)}."
            )
        said[field] = header
    with lab.store.reading() as reading:
        known = [product.name for product in list_products(reading)]
    return read_sheet(
        source, known, lab.workspace.settings.parse, sheet=sheet, columns=said,
        new_products=products,
    )  # fmt: skip


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
    if not understood.products:
        click.echo(
            "  no column of measured values: `rag lab products add NAME`, or --product HEADER"
        )
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
    for refused in understood.refused[:_SHOWN]:
        click.echo(f"  row {refused.row}: {refused.why}")
    if len(understood.refused) > _SHOWN:
        click.echo(f"  … and {len(understood.refused) - _SHOWN} more: --json lists all")
