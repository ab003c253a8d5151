"""What a form for feedback begins with, what it would come to, and all that feedback has said."""

from dataclasses import dataclass

from rag_assets.lab.experience import living_extraction
from rag_assets.lab.feedback import (
    Comparison,
    Entry,
    Feedback,
    FeedbackForm,
    Report,
    Strategy,
    check_form,
    find_feedback,
    find_report,
    list_feedback,
    make_comparison,
    outdated_parts,
)
from rag_assets.lab.opening import Laboratory
from rag_assets.lab.products import (
    Preset,
    Product,
    list_presets,
    list_products,
    product_names,
)
from rag_assets.lab.store import Recipe, Run, read_run

_JOIN = " + "


@dataclass(frozen=True, slots=True)
class FeedbackPage:
    """All that a form for the feedback on a run shows.

    Args:
        products: that may be measured; `presets` sets of them.
        names: of every product by id, deleted ones too: a feedback may name one.
        feedback: as it stands; None where there is none.
        version: to be given back as `seen`; 0 where there never was a feedback.
        strategy: with what it was compared last, else as the settings say.
        outdated: a sentence for each run that the report compares otherwise than it stands now.
        teaches: whether it will be learned from unless the person says otherwise.
    """

    run: Run
    products: tuple[Product, ...]
    presets: tuple[Preset, ...]
    names: dict[str, str]
    feedback: Feedback | None
    version: int
    strategy: Strategy
    report: Report | None
    outdated: tuple[str, ...]
    teaches: bool


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One feedback with what was made.

    Args:
        recipe: that was made; `as_made` how otherwise than proposed.
        products: name, measured value, fraction, in the order of the form.
        set_name: the names of the set of products, by which runs are of the same kind.
        version: of the feedback.
    """

    run_id: str
    kind: str
    given_at: str
    recipe: Recipe
    as_made: str
    score: float
    products: tuple[tuple[str, float, float], ...]
    set_name: str
    pros: str
    cons: str
    other: str
    version: int


def feedback_page(lab: Laboratory, run_id: str) -> FeedbackPage:
    """Return what a form for the feedback on a run begins with.

    Raises:
        UsageError: there is no such run.
    """
    settings = lab.settings
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
        found = find_feedback(reading, run_id)
        given = found if found is not None and found.status == "given" else None
        report = find_report(reading, run_id) if given is not None else None
        every = list_products(reading, deleted=True)
        has_taught = living_extraction(reading, run_id) is not None
        return FeedbackPage(
            run=run,
            products=tuple(one for one in every if one.status == "active"),
            presets=tuple(list_presets(reading)),
            names={one.id: one.name for one in every},
            feedback=given,
            version=found.version if found is not None else 0,
            strategy=report.strategy
            if report is not None
            else Strategy(use_method3=settings.comparison.method3),
            report=report,
            outdated=tuple(outdated_parts(reading, report)) if report is not None else (),
            teaches=has_taught
            or (
                settings.experience.learn
                and run.kind != "imported"
                and (given is None or given.learn is not False)
            ),
        )


def preview_comparison(
    lab: Laboratory, run_id: str, form: FeedbackForm, strategy: Strategy
) -> Comparison:
    """Return how a run would compare if its feedback were given so; nothing is written.

    Raises:
        UsageError: as `give_feedback`.
    """
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
        found = find_feedback(reading, run_id)
        version, at = (found.version + 1, found.given_at) if found is not None else (1, "")
        measured = check_form(reading, run, form)
        entry = Entry(run_id, version, float(form.score), measured, at)
        return make_comparison(reading, entry, strategy)


def list_history(lab: Laboratory) -> list[HistoryRow]:
    """Return every feedback that is not deleted with its recipe, the newest first."""
    with lab.store.reading() as reading:
        rows = []
        for one in reversed(list_feedback(reading)):
            run, _ = read_run(reading, one.run_id)
            names = product_names(reading, [each.product_id for each in one.products])
            measured = tuple(
                (name, each.value, each.fraction)
                for name, each in zip(names, one.products, strict=True)
            )
            rows.append(
                HistoryRow(
                    run_id=run.id, kind=run.kind, given_at=one.given_at,
                    recipe=run.recipes[one.recipe_index - 1], as_made=one.as_made,
                    score=one.score, products=measured, set_name=_JOIN.join(sorted(names)),
                    pros=one.pros, cons=one.cons, other=one.other, version=one.version,
                )
            )  # fmt: skip
        return rows
