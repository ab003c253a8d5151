"""`rag lab opinion`: what a Gaussian process expects of recipes; it decides nothing."""

from dataclasses import asdict

import click

from rag_assets.cli.lab_options import opened_laboratory
from rag_assets.cli.options import json_option, print_json


@click.command(
    "opinion",
    help="Print what a Gaussian process over the history of the PRODUCTS expects of the recipes of "
    "RUN: mean and deviation, with the error that it makes on each entry left out. It needs "
    "`lab.space` in config.yaml and eight entries, and proposes, ranks and filters nothing.",
)
@click.argument("run_id", metavar="RUN")
@click.argument("products", nargs=-1, required=True, metavar="PRODUCTS...")
@click.option("--of", "target", metavar="PRODUCT", help="Whose value; the score without.")
@click.option("--fraction", is_flag=True, help="Of --of the fraction, not the value.")
@json_option
def lab_opinion(
    run_id: str, products: tuple[str, ...], target: str | None, fraction: bool, as_json: bool
) -> None:
    """Print a second opinion."""
    from rag_assets.lab import find_product, second_opinion

    if fraction and target is None:
        raise click.UsageError("--fraction needs --of PRODUCT.")
    with opened_laboratory() as lab:
        with lab.store.reading() as reading:
            found = [find_product(reading, one) for one in products]
            asked = find_product(reading, target) if target is not None else None
        opinion = second_opinion(
            lab, run_id, [one.id for one in found], asked.id if asked else None,
            name=asked.name if asked else "score", is_fraction=fraction,
        )  # fmt: skip
    if as_json:
        print_json({**asdict(opinion), "knows_more": opinion.knows_more})
        return
    what = f"fraction of {opinion.of}" if fraction else opinion.of
    for one in opinion.recipes:
        if one.mean is None:
            click.echo(f"recipe {one.rank}: nothing can be said, {one.outside} is not declared")
        else:
            click.echo(f"recipe {one.rank}: {what} {one.mean:.3g} ± {one.deviation:.2g}")
    click.echo(
        f"from {opinion.entries} entries ({opinion.left_out} of the same products left out); each "
        f"left out once it misses by {opinion.error:.3g}, the mean of the others by "
        f"{opinion.error_of_mean:.3g}"
    )
    if not opinion.knows_more:
        click.echo("it knows no more than the mean does: give it no weight")
