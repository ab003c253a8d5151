"""`rag lab request|run|queue|cancel|show|replay`: recipes are asked for, made, and shown."""

import dataclasses
import time
from typing import TYPE_CHECKING

import click

from rag_assets.cli.failing import DONE, FAILED
from rag_assets.cli.lab_options import by_option, now, opened_laboratory, who
from rag_assets.cli.options import json_option, print_json, read_models_ahead
from rag_assets.model import count_of

if TYPE_CHECKING:
    from rag_assets.lab.laboratory import Laboratory
    from rag_assets.lab.runs import Run
    from rag_assets.lab.showing import QueueState


@click.command(
    "request",
    help="Ask for recipes. TEXT says what is wanted, in your words; it is put into the queue, and "
    "`rag lab run` works on it. Runs of one request have the same input: they differ by what the "
    "model samples alone.",
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
              help="Of the models; without it that of `llm`.")  # fmt: skip
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
        _require_run(lab, run)
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


def _require_run(lab: "Laboratory", run: str) -> None:
    from rag_assets.lab.runs import read_run

    with lab.store.reading() as reading:
        read_run(reading, run)


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
    if as_json:
        worker = dataclasses.asdict(queue.worker) if queue.worker else None
        print_json({"runs": [run.model_dump(mode="json") for run in runs], "worker": worker})
        return
    for run in runs:
        click.echo(_line(run, queue))
    if not runs:
        click.echo("there are no runs. `rag lab request` asks for recipes.")


def _line(run: "Run", queue: "QueueState") -> str:
    said = run.reason
    if run.state == "running":
        said = "its process has ended: `rag lab run` marks it as failed and goes on"
        if queue.worker is not None:
            said = f"last sign of life {queue.worker.at}, process {queue.worker.pid}"
    if run.state == "done":
        said = count_of(len(run.recipes), "recipe")
    return f"{run.state:<8}  {run.id}{f'  ({said})' if said else ''}"


@click.command(
    "cancel",
    help="Cancel RUN. One that waits never begins; one that works stops before its next call of a "
    "model or tool.",
)
@click.argument("run")
@by_option
def lab_cancel(run: str, by: str | None) -> None:
    """Cancel a run."""
    from rag_assets.lab.queue import cancel_run

    lab = opened_laboratory()
    canceled = cancel_run(lab, run, at=now(), by=who(by))
    click.echo(f"{canceled.id}: {canceled.reason}")


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
    from rag_assets.cli.lab_feedback import feedback_lines
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
        print_json({**plain, "note": view.note.to_json(), "trace_fault": view.fault})
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
    "is searched. Exit code 0: the same; 1: it says where it differs; 3: it cannot be made again.",
)
@click.argument("run")
@json_option
def lab_replay(run: str, as_json: bool) -> None:
    """Print whether the run is the same."""
    from rag_assets.lab.showing import replay_run

    lab = opened_laboratory()
    found = replay_run(lab, run)
    if as_json:
        print_json({**dataclasses.asdict(found), "same": found.is_same})
    elif found.is_same:
        asked = ", ".join(found.publications) or "no publication"
        click.echo(f"{found.pack}: the same, byte for byte; made from {asked}.")
    else:
        click.echo(f"{found.pack}: not the same.")
        for sentence in found.differences:
            click.echo(f"  {sentence}")
    click.get_current_context().exit(DONE if found.is_same else FAILED)
