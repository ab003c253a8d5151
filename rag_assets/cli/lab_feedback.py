"""`rag lab feedback`, `rag lab compare`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_assets.cli.lab_options import by_option, now, opened_laboratory, seen_option, who
from rag_assets.cli.options import OutputPath, json_option, print_json, write_output
from rag_assets.model import Cell, UsageError, count_of, write_csv

if TYPE_CHECKING:
    from rag_assets.lab.feedback import Feedback, FeedbackForm, Figures, Report, Strategy
    from rag_assets.lab.laboratory import Laboratory
    from rag_assets.lab.store import Reading
    from rag_assets.lab.teaching import HistoryRow, Outcome

_with_option = click.option(
    "--with", "chosen", multiple=True, metavar="RUN",
    help="Compare with this run, too; may be repeated (method 1).",
)  # fmt: skip
_text_option = click.option(
    "--known", "text", default=None, metavar="TEXT",
    help="What is known besides, for instance the best of the literature (method 2).",
)  # fmt: skip
_history_option = click.option(
    "--history/--no-history", "history", default=None,
    help="Compare with all runs of the same set of products (method 3); else as the settings say.",
)  # fmt: skip


@click.command(
    "feedback",
    help="Say what an experiment on RUN gave, or change what was said: only what is named changes. "
    "The run is compared, and what the feedback taught before is taken back and learned anew. "
    "Without an option: print the feedback.",
)
@click.argument("run")
@click.option("--score", type=float, help="A number; most people think of ten as full marks.")
@click.option(
    "--product", "products", multiple=True, metavar="NAME=VALUE",
    help="A measured value of a product of the catalogue; may be repeated. All of them together "
    "replace those given before.",
)  # fmt: skip
@click.option("--recipe", type=click.IntRange(1), help="Which recipe was made; the first without.")
@click.option("--as-made", help="How it was made otherwise than proposed.")
@click.option("--pros", help="What was good.")
@click.option("--cons", help="What was not.")
@click.option("--other", help="What else there is to say.")
@_with_option
@_text_option
@_history_option
@click.option("--learn/--no-learn", default=None, help="Whether it teaches; else as the settings "
              "say, and imported runs teach only with --learn.")  # fmt: skip
@click.option("--delete", is_flag=True, help="Take the feedback and what it taught back.")
@seen_option
@by_option
@json_option
def lab_feedback(run: str, **given: Any) -> None:
    """Give, change, delete or print a feedback."""
    from rag_assets.lab.feedback import find_feedback, require_feedback
    from rag_assets.lab.teaching import give_feedback, withdraw_feedback

    said = {key: given[key] for key in _FIELDS if given[key] not in (None, ())}
    lab = opened_laboratory()
    if given["delete"]:
        if said:
            raise UsageError("--delete takes a feedback back; it goes with no other statement.")
        outcome = withdraw_feedback(lab, run, at=now(), by=who(given["by"]), seen=given["seen"])
        _print_outcome(lab, outcome, as_json=given["as_json"])
        return
    changes = given["chosen"] or given["text"] is not None or given["history"] is not None
    if not said and not changes and given["learn"] is None:
        with lab.store.reading() as reading:
            _print_feedback(reading, require_feedback(reading, run), as_json=given["as_json"])
        return
    with lab.store.reading() as reading:
        old = find_feedback(reading, run)
        form = _form(reading, old, said)
        strategy = _strategy(lab, reading, run, given)
    if given["learn"] and old is not None and old.status == "given" and old.form == form:
        from rag_assets.lab.teaching import learn_again

        outcome = learn_again(lab, run, at=now(), by=who(given["by"]))
    else:
        outcome = give_feedback(
            lab, run, form, strategy, at=now(), by=who(given["by"]), seen=given["seen"],
            learn=given["learn"],
        )  # fmt: skip
    _print_outcome(lab, outcome, as_json=given["as_json"])


_FIELDS = ("score", "products", "recipe", "as_made", "pros", "cons", "other")


@click.command(
    "compare",
    help="Compare RUN, which has feedback, with others, and keep the report. Without an option: "
    "print the report that is kept.",
)
@click.argument("run")
@_with_option
@_text_option
@_history_option
@by_option
@json_option
def lab_compare(run: str, **given: Any) -> None:
    """Print or make a report."""
    from rag_assets.lab.feedback import find_report, outdated_parts, require_feedback
    from rag_assets.lab.teaching import compare_again

    lab = opened_laboratory()
    with lab.store.reading() as reading:
        require_feedback(reading, run)
        strategy = _strategy(lab, reading, run, given)
        report = find_report(reading, run)
    is_asked = given["chosen"] or given["text"] is not None or given["history"] is not None
    if report is None or is_asked:
        outcome = compare_again(lab, run, strategy, at=now(), by=who(given["by"]))
        report = outcome.report
    if report is None:
        raise UsageError(f"run {run} has no report.")
    with lab.store.reading() as reading:
        if given["as_json"]:
            print_json({**asdict(report), "outdated": outdated_parts(reading, report)})
            return
        for line in _report_lines(lab, reading, report):
            click.echo(line)


@click.command(
    "history",
    help="List what every experiment gave, the newest first: score, what was made, measured values "
    "and fractions. Imported experiments are among them.",
)
@click.option("--csv", "target", type=OutputPath(), metavar="FILE",
              help="Write it as a table: a line for each measured product.")  # fmt: skip
@json_option
def lab_history(target: Path | None, as_json: bool) -> None:
    """Print all feedback."""
    from rag_assets.lab.recipes import formula
    from rag_assets.lab.teaching import list_history

    lab = opened_laboratory()
    rows = list_history(lab)
    if target is not None:
        write_output(target, _table(rows).encode("utf-8-sig"))
        click.echo(f"{count_of(len(rows), 'experiment')} in {target}")
        return
    if as_json:
        print_json([{**asdict(one), "recipe": one.recipe.model_dump(mode="json")} for one in rows])
        return
    if not rows:
        click.echo("no experiment was reported yet. `rag lab feedback` reports one.")
    for one in rows:
        measured = ", ".join(f"{name} {value:g} ({part:.1%})" for name, value, part in one.products)
        click.echo(f"{one.score:g}  {formula(one.recipe)}: {measured}")
        made = f"; as made: {one.as_made}" if one.as_made else ""
        click.echo(f"  run {one.run_id}, {one.given_at[:10]}{made}")


_COLUMNS = ("run", "kind", "given at", "M1", "M2", "ratio", "modifier", "as made", "score",
            "product", "value", "fraction", "pros", "cons", "other")  # fmt: skip


def _table(rows: "list[HistoryRow]") -> str:
    lines: list[Sequence[Cell]] = [_COLUMNS]
    for one in rows:
        made = one.recipe
        parts = (made.M1, made.M2, made.atomic_ratio, made.small_molecule_modifier.name)
        for name, value, fraction in one.products:
            lines.append(
                (one.run_id, one.kind, one.given_at, *parts, one.as_made, one.score, name, value,
                 fraction, one.pros, one.cons, one.other)
            )  # fmt: skip
    return write_csv(lines)


def _form(reading: "Reading", old: "Feedback | None", said: dict[str, Any]) -> "FeedbackForm":
    from rag_assets.lab.feedback import FeedbackForm
    from rag_assets.lab.products import find_product

    values: dict[str, float] = {}
    for each in said.get("products", ()):
        name, sign, value = each.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise UsageError(f"--product is NAME=VALUE with a number as value, got '{each}'.")
        product = find_product(reading, name).id
        if product in values:
            raise UsageError(f"--product names '{name}' twice; a product stands once.")
        values[product] = number
    before = old.form if old is not None and old.status == "given" else None
    if before is None and "score" not in said:
        raise UsageError("a feedback needs a score: --score NUMBER.")
    return FeedbackForm(
        score=said.get("score", before.score if before else 0.0),
        values=values or (before.values if before else {}),
        recipe_index=said.get("recipe", before.recipe_index if before else 1),
        **{
            key: said.get(key, getattr(before, key) if before else "")
            for key in ("as_made", "pros", "cons", "other")
        },
    )


def _strategy(lab: "Laboratory", reading: "Reading", run: str, given: dict[str, Any]) -> "Strategy":
    """Return what the options say over the strategy of the last report, or the settings' one."""
    from rag_assets.lab.feedback import Strategy, find_report

    report = find_report(reading, run)
    before = report.strategy if report else Strategy(use_method3=lab.settings.comparison.method3)
    return Strategy(
        chosen=tuple(given["chosen"]) or before.chosen,
        text=before.text if given["text"] is None else given["text"],
        use_method3=before.use_method3 if given["history"] is None else given["history"],
    )


def _print_feedback(reading: "Reading", feedback: "Feedback", *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(feedback))
        return
    for line in feedback_lines(reading, feedback):
        click.echo(line)


def feedback_lines(reading: "Reading", feedback: "Feedback") -> Iterator[str]:
    """Yield a feedback as it is printed."""
    from rag_assets.lab.products import product_names

    made = f" (as made: {feedback.as_made})" if feedback.as_made else ""
    yield (
        f"run {feedback.run_id}, recipe {feedback.recipe_index}{made}: score {feedback.score:g} "
        f"(version {feedback.version})"
    )
    names = product_names(reading, [one.product_id for one in feedback.products])
    for name, one in zip(names, feedback.products, strict=True):
        yield f"  {name}  {one.value:g}  {one.fraction:.1%}"
    if feedback.products and not any(one.value for one in feedback.products):
        yield "  every value is 0, so every fraction is 0"
    for title in ("pros", "cons", "other"):
        if text := getattr(feedback, title):
            yield f"  {title}: {text}"


def _print_outcome(lab: "Laboratory", outcome: "Outcome", *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(outcome))
        return
    if not outcome.changed:
        click.echo("nothing is new: nothing was written")
        return
    from rag_assets.lab.experience import find_item

    with lab.store.reading() as reading:
        if outcome.report is None:
            click.echo(f"the feedback on run {outcome.feedback.run_id} is deleted")
        else:
            for line in feedback_lines(reading, outcome.feedback):
                click.echo(line)
            for line in _report_lines(lab, reading, outcome.report):
                click.echo(line)
        for title, deltas in (("taken back", outcome.taken_back), ("learned", outcome.learned)):
            if deltas or (deltas is not None and title == "learned"):
                click.echo(f"{title}:{'' if deltas else ' nothing'}")
                for one in deltas:
                    item = find_item(reading, one.item_id)
                    said = item.title or item.content
                    click.echo(f"  {one.change} mem:{one.item_id}  {item.kind}: {said}")
        for said in outcome.refused:
            click.echo(f"refused: {said}")


def _report_lines(lab: "Laboratory", reading: "Reading", report: "Report") -> Iterator[str]:
    from rag_assets.lab.feedback import NOTES, outdated_parts
    from rag_assets.lab.products import product_names

    comparison = report.comparison
    ids = [one.product_id for one in comparison.current.products]
    names = dict(zip(ids, product_names(reading, ids), strict=True))
    yield f"compared (report {report.version} of run {report.run_id}):"
    for note in comparison.notes:
        short = note in {"no_history", "one_entry"}
        if short and lab.settings.comparison.short_history == "note":
            yield f"  {count_of(comparison.history, 'other run')} of the same set of products"
        else:
            yield f"  {NOTES[note]}"
    over = {"history": "the same set of products", "chosen": "the chosen runs", None: ""}
    for title, figures in (
        (f"mean over {over[comparison.mean_of]}", comparison.mean),
        (f"maximum over {over[comparison.mean_of]}", comparison.maximum),
        ("this run minus the mean", comparison.minus_mean),
        ("this run minus the best", comparison.minus_best),
    ):
        if figures is not None:
            is_difference = title.startswith("this run minus")
            yield f"  {title}: {_figures(figures, names, is_difference=is_difference)}"
    for entry in comparison.details:
        is_best = comparison.best is not None and entry.run_id == comparison.best.run_id
        shown = ", ".join(
            f"{name} {one.value:g} ({one.fraction:.1%})"
            for name, one in zip(
                product_names(reading, [p.product_id for p in entry.products]),
                entry.products,
                strict=True,
            )
        )
        yield f"  {'best' if is_best else 'run'} {entry.run_id}: score {entry.score:g}; {shown}"
    if comparison.text:
        yield f"  told: {comparison.text}"
    for told in outdated_parts(reading, report):
        yield f"  since then: {told}"


def _figures(figures: "Figures", names: dict[str, str], *, is_difference: bool) -> str:
    if is_difference:
        # Of fractions the difference is told in points: a share of a share is another thing.
        parts = [f"score {figures.score:+g}"]
        parts += [
            f"{names[one.product_id]} {one.value:+g} ({100 * one.fraction:+.1f} points)"
            for one in figures.products
        ]
    else:
        parts = [f"score {figures.score:g} (n={figures.count})"]
        parts += [
            f"{names[one.product_id]} {one.value:g} ({one.fraction:.1%})"
            for one in figures.products
        ]
    return ", ".join(parts)
