"""`rag lab experience`: what was learned, and what people make of it."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag_assets.cli.lab_options import (
    by_option,
    now,
    opened_laboratory,
    reason_option,
    seen_option,
    who,
)
from rag_assets.cli.options import json_option, print_json
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from rag_assets.lab.experience import Item

_ROLES = ("global", "orchestrator", "mof_expert", "tio2_expert")
_KINDS = ("success", "failure", "note")


@click.group("experience", help="Read, search, correct and delete what was learned.")
def lab_experience() -> None:
    """Group of the commands about experience."""


@lab_experience.command("list", help="List items of experience, oldest first.")
@click.option("--role", type=click.Choice(_ROLES), help="Only items of this role.")
@click.option("--all", "every", is_flag=True, help="Also archived items and what was rolled back.")
@json_option
def list_all(role: str | None, every: bool, as_json: bool) -> None:
    """List items."""
    from rag_assets.lab.experience import list_items

    equal = {} if every else {"status": "active"}
    if role is not None:
        equal["role"] = role
    lab = opened_laboratory()
    with lab.store.reading() as reading:
        found = list_items(reading, **equal)
    if as_json:
        print_json([asdict(one) for one in found])
    for one in () if as_json else found:
        state = "" if one.is_active else " (rolled back)" if one.rolled_back else " (archived)"
        click.echo(f"mem:{one.id}  {one.role}  {one.kind}{state}  {one.title or one.content}")


@lab_experience.command(
    "show", help="Print ITEM (an id or mem:<id>) whole, with where it comes from; one that was "
    "rolled back still opens."
)  # fmt: skip
@click.argument("item")
@json_option
def show(item: str, as_json: bool) -> None:
    """Print an item."""
    from rag_assets.lab.experience import edit_log, find_item

    lab = opened_laboratory()
    with lab.store.reading() as reading:
        found = find_item(reading, item)
        log = edit_log(reading, found.id)
    if as_json:
        print_json({**asdict(found), "log": log})
        return
    _print_item(found)
    for row in log:
        reason = f": {row['reason']}" if row["reason"] else ""
        click.echo(f"  {row['at']}  {row['action'].replace('_', ' ')} by {row['by']}{reason}")


@lab_experience.command(
    "search", help="Find what an agent of ROLE would be given for QUESTION: items of its role, and "
    "items for all."
)  # fmt: skip
@click.argument("question")
@click.option("--role", type=click.Choice(_ROLES), default="global", show_default=True,
              help="The role that asks.")  # fmt: skip
@click.option("--k-role", type=click.IntRange(0, 50), help="Items of the role; else the settings'.")
@click.option("--k-global", type=click.IntRange(0, 50), help="Items for all; else the settings'.")
@click.option("--for-run", metavar="RUN", help="Leave out what this run itself taught.")
@json_option
def search(
    question: str, role: str, k_role: int | None, k_global: int | None, for_run: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Search experience."""
    from rag_assets.lab.recall import recall

    lab = opened_laboratory()
    given = lab.settings.experience
    found = recall(
        lab.store, lab.nearness, question, role, for_run=for_run,
        k_role=given.k_role if k_role is None else k_role,
        k_global=given.k_global if k_global is None else k_global,
    )  # fmt: skip
    if as_json:
        print_json([asdict(one) for one in found])
        return
    from rag_assets.judging import show_score

    if not found:
        click.echo("no experience was found")
    for one in found:
        click.echo(f"{show_score(one.score)}  {one.text}\n")


@lab_experience.command("add", help="Write an item by hand.")
@click.argument("content")
@click.option("--role", type=click.Choice(_ROLES), default="global", help="Whom it concerns.")
@click.option("--kind", type=click.Choice(_KINDS), default="note", help="What it tells of.")
@click.option("--title", default="", help="A few words.")
@click.option("--description", default="", help="One sentence.")
@click.option("--field", "fields", multiple=True, metavar="NAME=TEXT",
              help="A further field; may be repeated.")  # fmt: skip
@reason_option
@by_option
def add(content: str, reason: str, by: str | None, fields: tuple[str, ...], **values: str) -> None:
    """Add a note."""
    from rag_assets.lab.experience import add_note

    lab = opened_laboratory()
    with lab.store.writing(now(), who(by)) as writing:
        note = add_note(writing, {"content": content, "extra": _fields(fields), **values}, reason)
    click.echo(f"mem:{note.id}")


@lab_experience.command("edit", help="Change ITEM: only what is named changes.")
@click.argument("item")
@click.option("--content", help="The text.")
@click.option("--role", type=click.Choice(_ROLES), help="Whom it concerns.")
@click.option("--kind", type=click.Choice(_KINDS), help="What it tells of.")
@click.option("--title", help="A few words.")
@click.option("--description", help="One sentence.")
@click.option("--field", "fields", multiple=True, metavar="NAME=TEXT",
              help="A further field; may be repeated.")  # fmt: skip
@seen_option
@reason_option
@by_option
def edit(
    item: str, fields: tuple[str, ...], seen: int | None, reason: str, by: str | None,
    **values: str | None,
) -> None:  # fmt: skip
    """Edit an item."""
    from rag_assets.lab.experience import edit_item, find_item

    changes: dict[str, Any] = {key: value for key, value in values.items() if value is not None}
    lab = opened_laboratory()
    with lab.store.writing(now(), who(by)) as writing:
        if fields:
            changes["extra"] = {**find_item(writing, item).extra, **_fields(fields)}
        if not changes:
            raise UsageError("nothing is named to change: --content, --title, --role …")
        edited = edit_item(writing, item, changes, seen, reason)
    click.echo(f"mem:{edited.id} is at version {edited.version}")


@lab_experience.command(
    "archive", help="Delete ITEM softly: it is found no more, and its citation still opens."
)
@click.argument("item")
@seen_option
@reason_option
@by_option
def archive(item: str, seen: int | None, reason: str, by: str | None) -> None:
    """Archive an item."""
    from rag_assets.lab.experience import archive_item

    lab = opened_laboratory()
    with lab.store.writing(now(), who(by)) as writing:
        archived = archive_item(writing, item, seen, reason)
    click.echo(f"archived: mem:{archived.id}")


@lab_experience.command("restore", help="Take an archived ITEM back.")
@click.argument("item")
@seen_option
@reason_option
@by_option
def restore(item: str, seen: int | None, reason: str, by: str | None) -> None:
    """Restore an item."""
    from rag_assets.lab.experience import restore_item

    lab = opened_laboratory()
    with lab.store.writing(now(), who(by)) as writing:
        restored = restore_item(writing, item, seen, reason)
    click.echo(f"restored: mem:{restored.id}")


@lab_experience.command(
    "log", help="Print what people did to items, oldest first: who, when, why, and what changed; "
    "what was taken back with a feedback stands there too."
)  # fmt: skip
@click.option("--item", help="Only of this item.")
@json_option
def log(item: str | None, as_json: bool) -> None:
    """Print the log of edits."""
    from rag_assets.lab.experience import edit_log

    lab = opened_laboratory()
    with lab.store.reading() as reading:
        rows = edit_log(reading, item)
    if as_json:
        print_json(rows)
        return
    for row in rows:
        for line in _logged(row):
            click.echo(line)
    if not rows:
        click.echo("nobody has changed an item by hand, and nothing was taken back.")


def _logged(row: dict[str, Any]) -> Iterator[str]:
    before, after = row["before"] or {}, row["after"]
    reason = f": {row['reason']}" if row["reason"] else ""
    done = row["action"].replace("_", " ")
    said = before.get("title") or after["title"] or after["content"]
    yield f"{row['at']}  {done} by {row['by']}{reason}  mem:{row['item_id']}  {said}"
    for key, value in after.items():
        if row["action"] == "edited" and before.get(key) != value:
            yield f"  {key}: {_plain(before.get(key))} → {_plain(value)}"


@lab_experience.command("learned", help="Print what the feedback on RUN has taught, as JSON: each "
                        "learning with what it added and updated.")  # fmt: skip
@click.argument("run")
def learned(run: str) -> None:
    """Print the extractions of a run."""
    from rag_assets.lab.experience import delta_of, list_extractions

    lab = opened_laboratory()
    with lab.store.reading() as reading:
        print_json(
            [
                {**asdict(one), "delta": [asdict(d) for d in delta_of(reading, one.id)]}
                for one in list_extractions(reading, run)
            ]
        )


@lab_experience.command(
    "template", help="Print the template by which items enter the prompts of ROLE; with --save "
    "FILE give it another one (Jinja2)."
)  # fmt: skip
@click.argument("role", type=click.Choice(_ROLES))
@click.option("--save", "source", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar="FILE", help="A file that holds the template.")  # fmt: skip
@click.option("--seen", type=click.IntRange(0), metavar="VERSION",
              help="The version that you looked at; 0 for the shipped one.")  # fmt: skip
@by_option
def template(role: str, source: Path | None, seen: int | None, by: str | None) -> None:
    """Print or save a template."""
    from rag_assets.lab.experience import read_template, save_template

    lab = opened_laboratory()
    if source is not None:
        with lab.store.writing(now(), who(by)) as writing:
            saved = save_template(writing, role, source.read_text(encoding="utf-8"), seen)
        click.echo(f"the template of {role} is at version {saved.version}")
        return
    with lab.store.reading() as reading:
        found = read_template(reading, next(r for r in _known_roles() if r == role))
    click.echo(f"version {found.version}\n{found.text}")


def _known_roles() -> Any:
    from rag_assets.lab.experience import ROLES

    return ROLES


def _plain(value: Any) -> str:
    """Return a further field as a person reads it: `M1 Cu, M2 Mo, atomic ratio 2:1`."""
    if isinstance(value, dict):
        if set(value) <= {"name", "smiles"}:
            return str(value["name"])
        parts = (f"{key.replace('_', ' ')} {_plain(each)}" for key, each in value.items())
        return ", ".join(parts)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _fields(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--field is NAME=TEXT, got '{each}'.")
        found[name.strip()] = value
    return found


def _print_item(item: "Item") -> None:
    state = "rolled back" if item.rolled_back else item.status
    click.echo(f"mem:{item.id}  {item.role}  {item.kind}  {item.type}  {state}  v{item.version}")
    # Without a language model a lesson's title is its sentence.
    for text in dict.fromkeys((item.title, item.description, item.content)):
        if text:
            click.echo(f"  {text}")
    for lesson in item.variants:
        click.echo(f"  also: {lesson.content}")
    for key, value in item.extra.items():
        click.echo(f"  {key.replace('_', ' ')}: {_plain(value)}")
    for lesson in item.lessons:
        click.echo(f"  from run {lesson.run_id} (learning {lesson.extraction_id})")
    if item.moved_to:
        click.echo(f"  lessons of others are in {', '.join(f'mem:{m}' for m in item.moved_to)}")
