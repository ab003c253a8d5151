"""`rag lab`: recipes are asked for, made and shown; experiments are reported and compared."""

import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_assets.cli.lab_edit import lab_edit
from rag_assets.cli.options import (
    DONE,
    FAILED,
    OutputPath,
    RenamedGroup,
    by_option,
    json_option,
    now,
    open_workspace,
    opened_laboratory,
    print_json,
    print_result,
    read_models_ahead,
    seen_option,
    who,
    write_output,
)
from rag_assets.cli.summaries import print_replay
from rag_assets.model import UsageError, count_of

if TYPE_CHECKING:
    from rag_assets.lab.feedback import Feedback, FeedbackForm, Figures, Report, Strategy
    from rag_assets.lab.importing import Understood
    from rag_assets.lab.laboratory import Laboratory
    from rag_assets.lab.opinion import By
    from rag_assets.lab.runs import Run
    from rag_assets.lab.showing import QueueState
    from rag_assets.lab.store import Reading
    from rag_assets.lab.teaching import Outcome


@click.command(
    "init",
    help="Give the workspace a laboratory: a section 'lab' in config.yaml, and its memory, "
    "meta/lab/lab.sqlite. One that is there is left as it is.",
)
@json_option
def lab_init(as_json: bool) -> None:
    """Make a laboratory."""
    from rag_assets.lab.laboratory import init_laboratory, lab_file

    workspace = open_workspace()
    is_new = init_laboratory(workspace)
    where = lab_file(workspace).relative_to(workspace.root)
    print_result(
        as_json, {"file": str(where), "is_new": is_new},
        f"{'made' if is_new else 'there is'} a laboratory: {where}",
        *(["next: name the products that you measure: rag lab edit"] if is_new else []),
    )  # fmt: skip


@click.command(
    "request",
    help="Queue a request for recipes, in your words; `rag lab run` works on it. Runs of one "
    "request differ only by what the model samples.",
)
@click.argument("text")
@click.option("-n", "--runs", "n", type=click.IntRange(1, 5), default=1, show_default=True,
              help="How many runs.")  # fmt: skip
@click.option("--recipes", "recipes_per_run", type=click.IntRange(1, 3), default=1,
              show_default=True, help="How many recipes each run returns.")  # fmt: skip
@click.option("--policy", type=click.Choice(["model", "collect"]),
              help="model: the models of `llm` propose and rank; collect: candidates and the "
              "sentences for and against them, as found. Else lab.recipes.policy.")  # fmt: skip
@click.option("--temperature", type=click.FloatRange(0, 2),
              help="Of the models; else lab.recipes.temperature.")  # fmt: skip
@click.option("--run", "is_run_now", is_flag=True, help="Work on the queue at once.")
@by_option
@json_option
def lab_request(
    text: str,
    n: int,
    recipes_per_run: int,
    policy: str | None,
    temperature: float | None,
    is_run_now: bool,
    by: str | None,
    as_json: bool,
) -> None:
    """Queue the runs of a request."""
    from rag_assets.lab.queue import notes_before, parse_request, submit_request
    from rag_assets.lab.runs import read_run

    values = {"text": text, "n": n, "recipes_per_run": recipes_per_run, "policy": policy,
              "temperature": temperature}  # fmt: skip
    lab = opened_laboratory()
    runs = submit_request(lab, parse_request(values), at=now(), by=who(by))
    for sentence in notes_before(lab, runs, temperature):
        click.echo(f"note: {sentence}", err=True)
    # Told before anything can go wrong with the work.
    for run in () if as_json else runs:
        click.echo(f"queued {run.id}")
    if is_run_now:
        _work(lab, None)
    elif not as_json:
        click.echo("next: rag lab run")
    if as_json:
        with lab.store.reading() as reading:
            now_there = [read_run(reading, run.id)[0] for run in runs]
        print_json([run.model_dump(mode="json") for run in now_there])


@click.command(
    "run",
    help="Work on the queue, one run after the other, until it is empty; or on RUN alone. Exit "
    "code 1: a run failed.",
)
@click.argument("run", required=False)
@click.option("--again", is_flag=True, help="Begin RUN, which failed or was canceled, once more.")
@by_option
@json_option
def lab_run(run: str | None, again: bool, by: str | None, as_json: bool) -> None:
    """Work on the queue."""
    from rag_assets.lab.queue import queue_again

    if again and run is None:
        raise click.UsageError("--again names the run that is to be begun once more.")
    lab = opened_laboratory()
    read_models_ahead(lab.workspace)
    if run is not None:
        from rag_assets.lab.runs import read_run

        with lab.store.reading() as reading:
            read_run(reading, run)
    if again and run is not None:
        queue_again(lab, run, at=now(), by=who(by))
    ended = _work(lab, run)
    if as_json:
        print_json([one.model_dump(mode="json") for one in ended])
    elif not ended:
        click.echo("nothing waits in the queue.")
    for one in () if as_json else ended:
        if one.recipes:
            click.echo(f"next: rag lab show {one.id}")
    is_failed = any(one.state == "failed" for one in ended)
    click.get_current_context().exit(FAILED if is_failed else DONE)


def _work(lab: "Laboratory", only: str | None) -> "list[Run]":
    from rag_assets.lab.queue import work

    return work(
        lab, now=now, clock=time.monotonic, only=only,
        notify=lambda sentence: click.echo(sentence, err=True),
    )  # fmt: skip


@click.command("queue", help="Show the runs that wait, work and ended, oldest first.")
@click.option("--waiting", is_flag=True, help="Only those that have not ended.")
@json_option
def lab_queue(waiting: bool, as_json: bool) -> None:
    """List the runs."""
    from rag_assets.lab.showing import read_queue

    lab = opened_laboratory()
    queue = read_queue(lab)
    # Experiments of before were never in the queue.
    runs = [run for run in queue.runs if run.kind != "imported"]
    if waiting:
        runs = [run for run in runs if run.state in {"queued", "running"}]
    told = [run.model_dump(mode="json") for run in runs]
    lines = [_queue_line(run, queue) for run in runs]
    print_result(
        as_json, {"runs": told, "is_worked_on": queue.is_worked_on},
        *(lines or ["there are no runs. `rag lab request` asks for recipes."]),
    )  # fmt: skip


def _queue_line(run: "Run", queue: "QueueState") -> str:
    said = run.reason
    if run.state == "running":
        said = "its process has ended: `rag lab run` marks it as failed and goes on"
        if queue.is_worked_on:
            said = "a process works on it"
    if run.state == "done":
        said = count_of(len(run.recipes), "recipe")
    return f"{run.state:<8}  {run.id}{f'  ({said})' if said else ''}"


@click.command(
    "cancel",
    help="Cancel RUN. A waiting run never starts; a running one stops before its next call of a "
    "model or tool.",
)
@click.argument("run")
@by_option
@json_option
def lab_cancel(run: str, by: str | None, as_json: bool) -> None:
    """Cancel a run."""
    from rag_assets.lab.queue import cancel_run

    lab = opened_laboratory()
    canceled = cancel_run(lab, run, at=now(), by=who(by))
    print_result(as_json, canceled.model_dump(mode="json"), f"{canceled.id}: {canceled.reason}")


@click.command(
    "show",
    help="Show the recipes of RUN with the ground of each field, what was considered and left out, "
    "evidence, risks, questions, and the words of every source.",
)
@click.argument("run")
@click.option("--trace", "is_trace", is_flag=True, help="Print the trace, one JSON object a line.")
@json_option
def lab_show(run: str, is_trace: bool, as_json: bool) -> None:
    """Print a run."""
    from rag_assets.lab.feedback import find_feedback
    from rag_assets.lab.queue import trace_file
    from rag_assets.lab.showing import render_run, view_run
    from rag_assets.model import DamagedFileError

    lab = opened_laboratory()
    view = view_run(lab, run)
    if is_trace:
        if view.fault:
            raise DamagedFileError(view.fault)
        path = trace_file(lab.workspace, view.run)
        click.echo(path.read_text(encoding="utf-8") if view.events else "", nl=False)
        return
    with lab.store.reading() as reading:
        given = find_feedback(reading, run)
        is_given = given is not None and given.status == "given"
        reported = list(feedback_lines(reading, given)) if given and is_given else []
    found = view.run
    if as_json:
        plain = {**found.model_dump(mode="json"), "version": view.version}
        plain |= zip(("imported_at", "day"), found.dates, strict=True)
        product, rows = view.evidence
        told = {"product": product, "parts": [asdict(row) for row in rows]}
        print_json({
            **plain, "note": view.note.to_json(), "evidence": told, "trace_fault": view.fault,
        })  # fmt: skip
    else:
        click.echo(render_run(found, view.events, view.fault), nl=False)
        if reported:
            click.echo("\n## What the experiment gave\n")
            for line in reported:
                click.echo(line)
        elif found.state == "done" and found.kind != "imported":
            click.echo(f"when one was made: rag lab feedback {found.id} --help", err=True)


@click.command(
    "replay",
    help="Make RUN again from its trace and compare it byte for byte: no model is asked, nothing "
    "is searched. Exit code 0: the same; 1: different, with the place; 3: impossible.",
)
@click.argument("run")
@json_option
def lab_replay(run: str, as_json: bool) -> None:
    """Print whether the run is the same."""
    from rag_assets.lab.showing import replay_run

    lab = opened_laboratory()
    print_replay(replay_run(lab, run), as_json)


_with_option = click.option(
    "--with", "chosen", multiple=True, metavar="RUN",
    help="Compare with this run, too; may be repeated (method 1). An empty name clears the list.",
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
    help="Record what an experiment on RUN gave, or change it: only the given fields change. The "
    "run is compared, and what the feedback taught before is removed and learned again. "
    "Without options: print the feedback with its comparison.",
)
@click.argument("run")
@click.option("--score", type=float, help="A number; most people think of ten as full marks.")
@click.option(
    "--product", "products", multiple=True, metavar="NAME=VALUE",
    help="A measured value of a product of the catalogue; may be repeated. All of them together "
    "replace those given before.",
)  # fmt: skip
@click.option("--recipe", type=click.IntRange(1), help="Which recipe was made; the first without.")
@click.option("--as-made", help="How the recipe as made differed from the proposal.")
@click.option("--pros", help="What was good.")
@click.option("--cons", help="What was not.")
@click.option("--other", help="What else there is to say.")
@_with_option
@_text_option
@_history_option
@click.option("--learn/--no-learn", default=None, help="Whether it teaches; else as the settings "
              "say, and imported runs teach only with --learn.")  # fmt: skip
@click.option("--compare", is_flag=True, help="Make the report again with what it rests on now.")
@click.option("--delete", is_flag=True, help="Delete the feedback and what it taught.")
@seen_option
@by_option
@json_option
def lab_feedback(run: str, **given: Any) -> None:
    """Give, change, delete or print a feedback."""
    from rag_assets.lab.feedback import (
        find_feedback,
        find_report,
        outdated_parts,
        require_feedback,
    )
    from rag_assets.lab.teaching import give_feedback, withdraw_feedback

    said = {key: given[key] for key in _FIELDS if given[key] not in (None, ())}
    lab = opened_laboratory()
    if given["delete"]:
        if said:
            raise UsageError(
                "--delete removes the feedback and cannot be combined with other options."
            )
        outcome = withdraw_feedback(lab, run, at=now(), by=who(given["by"]), seen=given["seen"])
        _print_outcome(lab, outcome, as_json=given["as_json"])
        return
    changes = (
        given["compare"]
        or given["chosen"]
        or given["text"] is not None
        or given["history"] is not None
    )
    if not said and not changes and given["learn"] is None:
        with lab.store.reading() as reading:
            feedback, report = require_feedback(reading, run), find_report(reading, run)
            if given["as_json"]:
                outdated = outdated_parts(reading, report) if report else ()
                told = {"report": report and asdict(report), "outdated": outdated}
                print_json({**asdict(feedback), **told})
                return
            for line in feedback_lines(reading, feedback):
                click.echo(line)
            for line in _report_lines(lab, reading, report) if report else ():
                click.echo(line)
        return
    with lab.store.reading() as reading:
        old = find_feedback(reading, run)
        form = _feedback_form(reading, old, said)
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
    from rag_assets.lab.teaching import history_csv, list_history

    lab = opened_laboratory()
    rows = list_history(lab)
    if target is not None:
        write_output(target, history_csv(rows))
        shown = f"{count_of(len(rows), 'experiment')} in {target}"
        print_result(as_json, {"file": str(target), "experiments": len(rows)}, shown)
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
        days = (("imported", one.imported_at[:10]), ("experiment of", one.day))
        said = ", ".join(f"{what} {day}" for what, day in days if day) or one.given_at[:10]
        click.echo(f"  run {one.run_id}, {said}{made}")


@click.command(
    "suggest",
    help="Suggest the next experiments by a Gaussian process over past ones (BayBE, extra `bo`), "
    "with the expected result and an interval that holds 95 of 100 new experiments. Recipes that "
    "were proposed and have no feedback are listed with theirs.",
)
@click.option("--product", metavar="NAME", help="The product that is to be as high as possible.")
@click.option("--by", type=click.Choice(["fraction", "value", "score"]), default="fraction",
              show_default=True, help="What is to be high: a product's share of all products, its "
              "measured value, or the score.")  # fmt: skip
@click.option("-n", "count", type=click.IntRange(1, 10), default=3, show_default=True,
              help="How many experiments are suggested.")  # fmt: skip
@json_option
def lab_suggest(product: str | None, by: "By", count: int, as_json: bool) -> None:
    """Print a second opinion."""
    from rag_assets.lab.opinion import form_opinion, opinion_lines

    opinion = form_opinion(opened_laboratory(), product=product, by=by, count=count)
    print_result(as_json, opinion.to_json(), *opinion_lines(opinion))


def _feedback_form(
    reading: "Reading", old: "Feedback | None", said: dict[str, Any]
) -> "FeedbackForm":
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
            raise UsageError(f"Duplicate product '{name}'. Give each product only once.")
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
    from rag_assets.lab.feedback import Strategy, find_report, strategy_now

    report = find_report(reading, run)
    before = Strategy(use_method3=lab.settings.comparison.method3)
    if report:
        before = strategy_now(reading, report)
    return Strategy(
        chosen=tuple(filter(None, given["chosen"])) if given["chosen"] else before.chosen,
        text=before.text if given["text"] is None else given["text"],
        use_method3=before.use_method3 if given["history"] is None else given["history"],
    )


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
                    for lesson in item.lessons if title == "learned" else ():
                        if lesson.basis and lesson.run_id == outcome.feedback.run_id:
                            click.echo(f"    {lesson.basis}")
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
        yield f"  known: {comparison.text}"
    outdated = outdated_parts(reading, report)
    yield from (f"  since then: {told}" for told in outdated)
    if outdated:
        yield f"  `rag lab feedback {report.run_id} --compare` makes the report again"


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


@click.command(
    "export",
    help="Write the whole laboratory to FILE, one JSON line per row and per trace of a run. "
    "`rag lab import` restores it.",
)
@click.argument("target", metavar="FILE", type=OutputPath())
@json_option
def lab_export(target: Path, as_json: bool) -> None:
    """Export rows and traces."""
    from rag_assets.lab.importing import export_laboratory

    lab = opened_laboratory()
    lines = export_laboratory(lab)
    write_output(target, "".join(f"{line}\n" for line in lines).encode())
    shown = f"{count_of(len(lines), 'line')} in {target}"
    print_result(as_json, {"file": str(target), "lines": len(lines)}, shown)
    _tell_untraced(lab)


def _tell_untraced(lab: "Laboratory") -> None:
    from rag_assets.lab.importing import without_trace

    if runs := ", ".join(without_trace(lab)):
        click.echo(f"without their traces, so `rag lab replay` cannot make them: {runs}", err=True)


_SHEETS = frozenset({".xlsx", ".xlsm", ".csv", ".tsv"})
# Rows that are shown of what was understood, and of what was refused.
_SHOWN = 5


@click.command(
    "import",
    help="Import FILE. An export needs an empty laboratory and is imported whole or not at all. "
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
    from rag_assets.lab.importing import import_experiments, import_laboratory, read_sheet
    from rag_assets.lab.products import list_products

    lab = opened_laboratory()
    if source.suffix.casefold() not in _SHEETS:
        if sheet or write or learn:
            raise UsageError(f"{source} is an export, so the options of sheets do not apply.")
        with source.open(encoding="utf-8") as lines:
            count = import_laboratory(lab, lines)
        print_result(as_json, {"imported": count}, f"{count_of(count, 'line')} imported")
        _tell_untraced(lab)
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
        click.echo("  no column of measured values: `rag lab edit` adds products")
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


lab = RenamedGroup(
    "lab",
    help="Get recipes from literature and experience, report experiments, and see what was "
    "learned.",
    renamed={
        "opinion": "Use `rag lab suggest`.",
        "compare": "`rag lab feedback RUN` prints the comparison; with --with, --known or "
        "--history it compares again.",
        "products": "Use `rag lab edit`.",
        "presets": "Use `rag lab edit`.",
        "settings": "Use `rag lab edit`.",
        "experience": "Use `rag lab edit`, or the page Experience of `rag desk`.",
    },
)
for _command in (
    lab_init, lab_request, lab_run, lab_queue, lab_cancel, lab_show, lab_replay, lab_feedback,
    lab_history, lab_suggest, lab_edit, lab_export, lab_import,
):  # fmt: skip
    lab.add_command(_command)
