"""Experiments of before are stored: a run of kind `imported` each, with its feedback."""

from dataclasses import dataclass

from rag_assets.lab.feedback import FeedbackForm, Strategy, find_feedback
from rag_assets.lab.importing.sheet import Experiment, Understood
from rag_assets.lab.opening import Laboratory
from rag_assets.lab.products import add_product, find_product, list_products
from rag_assets.lab.store import Run, list_runs, record_run
from rag_assets.lab.teaching import give_feedback


@dataclass(frozen=True, slots=True)
class Imported:
    """What was stored.

    Args:
        runs: ids of the new runs, in the order of the rows.
        known: how many were there already, and were left as they are.
        without_feedback: of the new runs, those without a score.
        products: names that were added to the catalogue.
    """

    runs: tuple[str, ...]
    known: int
    without_feedback: int
    products: tuple[str, ...]


def import_experiments(
    lab: Laboratory, understood: Understood, *, at: str, by: str, learn: bool
) -> Imported:
    """Store every experiment of a sheet that is not there yet.

    A run and its feedback are two transactions: what a kill left without feedback is given it by
    the next import of the same sheet.

    Args:
        at: now, ISO 8601 with zone.
        by: who imports.
        learn: whether what the sheet says of them teaches.

    Raises:
        UsageError: a product was deleted from the catalogue meanwhile.
        LanguageModelError: what teaches could not be asked; what was stored until then stays.
    """
    with lab.store.writing(at, by) as writing:
        there = {product.name for product in list_products(writing)}
        new = [name for name in understood.products if name not in there]
        for name in new:
            add_product(writing, name)
        ids = {name: find_product(writing, name).id for name in understood.products}
        known = {run.id for run, _ in list_runs(writing)}
        judged = {run for run in known if find_feedback(writing, run) is not None}
    strategy = Strategy(use_method3=lab.settings.comparison.method3)
    for one in understood.experiments:
        if one.run_id not in known:
            with lab.store.writing(at, by) as writing:
                record_run(writing, _run(one, understood, at))
        if one.score is not None and one.run_id not in judged:
            values = {ids[name]: value for name, value in one.values.items()}
            said = one.texts
            form = FeedbackForm(
                one.score, values, as_made=said["as_made"], pros=said["pros"], cons=said["cons"],
                other=said["other"],
            )  # fmt: skip
            give_feedback(lab, one.run_id, form, strategy, at=at, by=by, learn=learn)
    fresh = [one for one in understood.experiments if one.run_id not in known]
    return Imported(
        tuple(one.run_id for one in fresh),
        len(understood.experiments) - len(fresh),
        sum(one.score is None for one in fresh),
        tuple(new),
    )


def _run(one: Experiment, understood: Understood, at: str) -> Run:
    units = {column.product: column.unit for column in understood.columns if column.unit}
    return Run(
        id=one.run_id,
        kind="imported",
        state="done",
        created_at=f"{one.day}T00:00:00+00:00" if one.day else at,
        request={
            "file": understood.file,
            "sheet": understood.sheet,
            "row": one.row,
            "cells": dict(one.cells),
            "values": dict(one.values),
            "units": units,
        },
        recipes=(one.recipe,),
    )
