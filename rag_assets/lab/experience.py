"""What was learned: items with their lessons, edits by hand, strict rollback, templates.

A lesson is what one extraction learned of one feedback; it has one item, as written or joined.
Rolling an extraction back voids its lessons and, on each item that they touched, every edit by
hand that came after the first of them: the item says again what it said before. An item that the
extraction created becomes a tombstone, which still opens; lessons of other feedback that had
joined it move to where they belong now. No state is restored from a copy of the whole: that of
another extraction may hold what is taken back.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from rag_assets.lab.store import Reading, Writing, new_id
from rag_assets.model import UsageError, shown_value

Role = Literal["global", "orchestrator", "mof_expert", "tio2_expert"]
ROLES: tuple[Role, ...] = get_args(Role)
Kind = Literal["success", "failure", "note"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Status = Literal["active", "archived"]
CITATION = "mem:"
SCHEMA_VERSION = 1
# What a person may change.
EDITABLE = ("role", "kind", "title", "description", "content", "extra")
# What a person does to an item by hand: actions that a rollback voids.
BY_HAND = ("edited", "archived", "restored")
DEFAULT_TEMPLATE = (
    "{{ citation }} ({{ kind }}{% if title %}: {{ title }}{% endif %})\n"
    "{{ content }}"
    "{% for variant in variants %}\nAlso: {{ variant.content }}{% endfor %}"
)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one extraction learned of one feedback.

    Args:
        id: a UUID.
        extraction_id: the extraction that taught it; `run_id` the run that was reported on.
        title: a few words; `description` one sentence; `content` what was learned.
        extra: further fields.
    """

    id: str
    extraction_id: str
    run_id: str
    role: Role
    kind: Kind
    title: str
    description: str
    content: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def basis(self) -> str:
        """What it rests on, for a reader; empty where an earlier version learned it."""
        found = self.extra.get("rests_on")
        if not isinstance(found, Mapping):
            return ""
        word = "the chemist's word"
        whose = word if found["by"] == "chemist" else f"a model's reading of {word}"
        measured, said = (", ".join(found[key]) for key in ("measured", "said"))
        parts = [f"measured: {measured}" if measured else "no measurement is in it"]
        return "; ".join([*parts, *([f"{word}: {said}"] if said else []), f"all else: {whose}"])


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of experience as it is now.

    Args:
        id: a UUID; cited as `mem:<id>`.
        version: the number of its changes, by which two editors are told apart.
        lessons: those that it has, in the order in which they came; none of a person's note.
        rolled_back: whether the feedback that it came from was edited or deleted since: a
            tombstone, archived, which shows what it last said.
        moved_to: of a tombstone the items that have the lessons of other feedback now.
    """

    id: str
    role: Role
    kind: Kind
    type: Literal["reasoningbank_item", "manual_note"]
    status: Status
    title: str
    description: str
    content: str
    extra: Mapping[str, Any]
    lessons: tuple[Lesson, ...]
    created_at: str
    updated_at: str
    version: int
    schema_version: int = SCHEMA_VERSION
    rolled_back: bool = False
    moved_to: tuple[str, ...] = ()

    @property
    def is_active(self) -> bool:
        """Whether it is searched and may be joined."""
        return self.status == "active"

    @property
    def variants(self) -> tuple[Lesson, ...]:
        """The lessons that say the same in other words."""
        return tuple(lesson for lesson in self.lessons if lesson.content != self.content)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text that a reader of it sees."""
        own = (self.title, self.description, self.content)
        return (*own, *(text for one in self.variants for text in (one.title, one.content)))


@dataclass(frozen=True, slots=True)
class Extraction:
    """One learning of one feedback.

    Args:
        seq: the number of its change.
        run_id: the run whose feedback taught.
        record: what was asked of whom: model, prompts, what came back.
    """

    id: str
    seq: int
    run_id: str
    status: Literal["made", "rolled_back"]
    made_at: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Delta:
    """One change that an extraction made: an item was added, or updated by a lesson that joined.

    Args:
        is_voided: whether it was taken back, or the lesson moved to another item.
    """

    change: Literal["add", "update"]
    item_id: str
    is_voided: bool


# The item that says what a lesson says, among active ones, oldest first; None where there is none.
FindEqual = Callable[[Lesson, Sequence[Item]], str | None]


def find_item(reading: Reading, named: str) -> Item:
    """Return an item by its id or citation (`mem:<id>`), tombstones included.

    Raises:
        UsageError: there is none.
    """
    found = list_items(reading, id=named.removeprefix(CITATION))
    if not found:
        raise UsageError(
            f"there is no item '{named}' in this laboratory. `rag lab edit` shows them."
        )
    return found[0]


def list_items(reading: Reading, **equal: str) -> list[Item]:
    """Return the items of the given role, status, kind, type or id, oldest first."""
    lessons: dict[str, list[dict[str, Any]]] = {}
    of_item = {"item_id": equal["id"]} if "id" in equal else {}
    for row in reading.rows("lessons", "seq", **of_item):
        lessons.setdefault(row["item_id"], []).append(row)
    found = []
    for row in reading.rows("items", "seq", **equal):
        del row["seq"], row["extraction_id"]
        values = {
            "extra": json.loads(row.pop("extra_json")),
            "moved_to": tuple(row.pop("moved_to")),
            # A tombstone shows those that it had.
            "lessons": tuple(
                Lesson(**each["lesson"])
                for each in lessons.get(row["id"], ())
                if row["rolled_back"] or not each["voided"]
            ),
        }
        found.append(Item(**row, **values))
    return found


def edit_log(reading: Reading, item_id: str | None = None) -> list[dict[str, Any]]:
    """Return what people did to items, before and after, in order; of all items without an id."""
    equal = {} if item_id is None else {"item_id": item_id.removeprefix(CITATION)}
    return reading.rows("mem_edit_log", "seq", **equal)


def list_extractions(reading: Reading, run_id: str) -> list[Extraction]:
    """Return the learnings of a run's feedback, oldest first."""
    return [Extraction(**row) for row in reading.rows("extractions", "seq", run_id=run_id)]


def living_extraction(reading: Reading, run_id: str) -> Extraction | None:
    """Return the learning of a run's feedback that holds; None where there is none."""
    living = [one for one in list_extractions(reading, run_id) if one.status == "made"]
    return living[-1] if living else None


def delta_of(reading: Reading, extraction_id: str) -> list[Delta]:
    """Return what an extraction changed, in order."""
    first = {row["id"]: row["seq"] for row in reading.rows("items")}
    return [
        Delta(
            "add" if first[row["item_id"]] == row["seq"] else "update", row["item_id"],
            row["voided"],
        )
        for row in reading.rows("lessons", "seq", extraction_id=extraction_id)
    ]  # fmt: skip


def add_note(writing: Writing, values: Mapping[str, Any], reason: str = "") -> Item:
    """Write an item by hand.

    Args:
        values: `content`, and where they differ from the defaults `role` (global), `kind` (note),
            `title`, `description`, `extra`.
        reason: why, for the log.

    Raises:
        UsageError: a field is unknown or wrong, or there is no content.
    """
    whole = {
        "role": "global", "kind": "note", "title": "", "description": "", "content": "",
        "extra": {}, **_checked(values),
    }  # fmt: skip
    if not whole["content"].strip():
        raise UsageError("an item needs a 'content', got none.")
    note = Item(
        new_id(), type="manual_note", status="active", lessons=(), created_at=writing.at,
        updated_at=writing.at, version=0, **whole,
    )  # fmt: skip
    return _store(writing, note, "created", reason)


def edit_item(
    writing: Writing,
    named: str,
    changes: Mapping[str, Any],
    seen: int | None = None,
    reason: str = "",
) -> Item:
    """Change fields of an item; what does not change writes nothing.

    Raises:
        UsageError: a field is unknown or wrong, or the item is a tombstone.
        ChangedMeanwhileError: it has changed, or was rolled back, since it was seen.
    """
    item = _open(writing, named, seen)
    wanted = {k: v for k, v in _checked(changes).items() if getattr(item, k) != v}
    if "content" in wanted and not str(wanted["content"]).strip():
        raise UsageError("an item needs a 'content', got none. `archive` takes it out of searches.")
    return _store(writing, replace(item, **wanted), "edited", reason) if wanted else item


def archive_item(writing: Writing, named: str, seen: int | None = None, reason: str = "") -> Item:
    """Delete an item softly: it is found no more, and its citation still opens.

    Raises:
        UsageError, ChangedMeanwhileError: as `edit_item`.
    """
    return _set_status(writing, named, "archived", "archived", seen, reason)


def restore_item(writing: Writing, named: str, seen: int | None = None, reason: str = "") -> Item:
    """Restore an archived item.

    Raises:
        UsageError, ChangedMeanwhileError: as `edit_item`.
    """
    return _set_status(writing, named, "active", "restored", seen, reason)


def _set_status(
    writing: Writing, named: str, status: Status, action: str, seen: int | None, reason: str
) -> Item:
    item = _open(writing, named, seen)
    if item.status == status:
        return item
    return _store(writing, replace(item, status=status), action, reason)


def _open(writing: Writing, named: str, seen: int | None) -> Item:
    item_id = named.removeprefix(CITATION)
    writing.require_version("item", item_id, "item", seen)
    item = find_item(writing, item_id)
    if item.rolled_back:
        moved = ", ".join(f"{CITATION}{one}" for one in item.moved_to)
        where = f" Lessons of other feedback that it had are in {moved} now." if moved else ""
        raise UsageError(
            f"item {item_id} was rolled back with the feedback that taught it; it only shows what "
            f"it said.{where}"
        )
    return item


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in values.items():
        if key not in EDITABLE:
            raise UsageError(
                f"an item has no field '{key}' to write (it has {', '.join(EDITABLE)})."
            )
        allowed = {"role": ROLES, "kind": KINDS}.get(key)
        if allowed is not None and value not in allowed:
            raise UsageError(f"'{key}' is one of {', '.join(allowed)}, got {shown_value(value)}.")
        wanted = dict if key == "extra" else str
        if not isinstance(value, wanted):
            raise UsageError(f"'{key}' is {wanted.__name__}, got {shown_value(value)}.")
    return dict(values)


def _store(
    writing: Writing, item: Item, action: str, reason: str = "", creator: str | None = None
) -> Item:
    """Write an item, and log what was done to it.

    Args:
        creator: of a new item the extraction that makes it.
    """
    said = {key: getattr(item, key) for key in EDITABLE}
    state = {**said, "status": item.status, "rolled_back": item.rolled_back,
             "stands for": len(item.lessons)}  # fmt: skip
    version = writing.change("item", item.id, action, state, reason)
    stored = writing.rows("items", id=item.id)
    origin = stored[0] if stored else {"seq": writing.head(), "extraction_id": creator}
    writing.put("items", {
        "id": item.id, "seq": origin["seq"], "version": version, "role": item.role,
        "kind": item.kind, "type": item.type, "status": item.status,
        "rolled_back": item.rolled_back, "created_at": item.created_at, "updated_at": writing.at,
        "schema_version": SCHEMA_VERSION, "title": item.title, "description": item.description,
        "content": item.content, "extraction_id": origin["extraction_id"],
        "extra_json": json.dumps(item.extra, ensure_ascii=False, sort_keys=True),
        "moved_to": list(item.moved_to),
    })  # fmt: skip
    return replace(item, version=version, updated_at=writing.at)


def write_extraction(
    writing: Writing,
    extraction_id: str,
    run_id: str,
    status: Literal["made", "rolled_back"],
    record: Mapping[str, Any],
) -> None:
    """Store an extraction as it is made, or that it was rolled back."""
    writing.change("extraction", extraction_id, status, {"run_id": run_id, "status": status})
    stored = writing.rows("extractions", id=extraction_id)
    origin = stored[0] if stored else {"seq": writing.head(), "made_at": writing.at}
    writing.put("extractions", {
        "id": extraction_id, "seq": origin["seq"], "run_id": run_id, "status": status,
        "made_at": origin["made_at"], "record": dict(record),
    })  # fmt: skip


def place_lesson(
    writing: Writing, lesson: Lesson, find_equal: FindEqual, item_id: str | None = None
) -> str:
    """Join a lesson to the active item that says the same, else make it one; return the item.

    Args:
        item_id: of the item that is made where there is none; a new one without.
    """
    found = find_equal(lesson, list_items(writing, status="active"))
    if found is not None:
        item = find_item(writing, found)
        _store(writing, replace(item, lessons=(*item.lessons, lesson)), "joined")
    else:
        said = {key: getattr(lesson, key) for key in EDITABLE}
        made = Item(
            item_id or new_id(), type="reasoningbank_item", status="active", lessons=(lesson,),
            created_at=writing.at, updated_at=writing.at, version=0, **said,
        )  # fmt: skip
        found = made.id
        _store(writing, made, "created", creator=lesson.extraction_id)
    writing.put("lessons", {
        "seq": writing.head(), "id": lesson.id, "item_id": found,
        "extraction_id": lesson.extraction_id, "source_run_id": lesson.run_id, "voided": False,
        "lesson": asdict(lesson),
    })  # fmt: skip
    return found


def take_back(writing: Writing, extraction_id: str, find_equal: FindEqual) -> None:
    """Roll an extraction back, and give the lessons of others that it displaces a place."""
    displaced = void_lessons(writing, extraction_id)
    for _, lesson, item_id in sorted(displaced, key=lambda each: each[0]):
        place = place_lesson(writing, lesson, find_equal)
        tomb = find_item(writing, item_id)
        moved = tuple(dict.fromkeys((*tomb.moved_to, place)))
        _store(writing, replace(tomb, moved_to=moved), "rolled_back")


def void_lessons(writing: Writing, extraction_id: str) -> list[tuple[int, Lesson, str]]:
    """Void the lessons of an extraction and all that people made of them.

    Returns:
        The lessons of other feedback whose item is gone: number, lesson, that item.
    """
    first: dict[str, int] = {}
    for row in writing.rows("lessons", "seq", extraction_id=extraction_id, voided=False):
        first.setdefault(row["item_id"], row["seq"])
    displaced = []
    for item_id, seq in first.items():
        (origin,) = writing.rows("items", id=item_id)
        is_gone = origin["extraction_id"] == extraction_id
        others = [
            row for row in writing.rows("lessons", "seq", item_id=item_id, voided=False)
            if row["extraction_id"] != extraction_id
        ]  # fmt: skip
        item = find_item(writing, item_id)
        changes = writing.rows("changes", "version", entity="item", subject=item_id)
        edits = [
            one for one in changes
            if one["action"] in BY_HAND and one["seq"] > seq and not one["voided"]
        ]  # fmt: skip
        writing.connection.executemany(
            "UPDATE changes SET voided = 1 WHERE seq = ?", [[one["seq"]] for one in edits]
        )
        gone = "" if is_gone else " AND extraction_id = ?"
        writing.connection.execute(
            f"UPDATE lessons SET voided = 1 WHERE item_id = ?{gone}",
            [item_id, *([] if is_gone else [extraction_id])],
        )
        if is_gone:
            # A tombstone shows what it last said.
            displaced += [(row["seq"], Lesson(**row["lesson"]), item_id) for row in others]
            left = replace(item, status="archived", rolled_back=True, lessons=())
        else:
            left = replace(item, lessons=tuple(Lesson(**row["lesson"]) for row in others))
            if edits:
                # Before the first of them it said what it says without them.
                before = changes[edits[0]["version"] - 2]["state"]
                left = replace(left, **{key: before[key] for key in (*EDITABLE, "status")})
        _store(writing, left, "rolled_back")
    return displaced


def replay_item(writing: Writing, item_id: str, kind: str, body: Mapping[str, Any]) -> None:
    """Do to an item what an event of an earlier version's store says.

    Raises:
        ValueError, KeyError, TypeError, UsageError: it does not follow from those before.
    """
    match kind:
        case "created" if body["lessons"]:
            place_lesson(writing, Lesson(**body["lessons"][0]), lambda *_: None, item_id)
        case "created":
            said = {key: body[key] for key in EDITABLE}
            note = Item(
                item_id, type="manual_note", status="active", lessons=(), version=0,
                created_at=writing.at, updated_at=writing.at, **said,
            )  # fmt: skip
            _store(writing, note, kind, body.get("reason", ""))
        case "joined":
            place_lesson(writing, Lesson(**body["lesson"]), lambda *_: item_id)
        case "edited":
            edit_item(writing, item_id, body["changes"], None, body.get("reason", ""))
        case "archived":
            archive_item(writing, item_id, None, body.get("reason", ""))
        case "restored":
            restore_item(writing, item_id, None, body.get("reason", ""))
        case "rolled_back":
            # What it voids was voided with the extraction.
            tomb = find_item(writing, item_id)
            moved = tuple(dict.fromkeys((*tomb.moved_to, *body["moved"])))
            if moved != tomb.moved_to:
                _store(writing, replace(tomb, moved_to=moved), kind)
        case other:
            raise ValueError(f"an item knows no event '{other}'")


def contents(reading: Reading) -> set[str]:
    """Return every content that an item or lesson has had, or may have again."""
    states = (row["state"] for row in reading.rows("changes", entity="item"))
    lessons = (row["lesson"] for row in reading.rows("lessons"))
    return {str(one["content"]) for one in (*states, *lessons)}


@dataclass(frozen=True, slots=True)
class Template:
    """What of an item enters the prompts of one role; version 0 is the shipped one."""

    role: Role
    text: str
    version: int


def read_template(reading: Reading, role: Role) -> Template:
    """Return the template that holds for a role."""
    return list_templates(reading, role)[-1]


def list_templates(reading: Reading, role: Role) -> list[Template]:
    """Return every template that a role has had, the shipped one first."""
    saved = reading.rows("templates", "version", role=role)
    texts = (DEFAULT_TEMPLATE, *(row["text"] for row in saved))
    return [Template(role, text, version) for version, text in enumerate(texts)]


def save_template(writing: Writing, role: str, text: str, seen: int | None = None) -> Template:
    """Give a role another template; the ones before are kept.

    Args:
        text: Jinja2, with `citation` and the fields of an item by their names; `variants` are the
            lessons that say the same in other words. A new field of items (`extra`) needs a line
            in a template, and nothing of the code.
        seen: the version that was seen; 0 for the shipped one.

    Raises:
        UsageError: no such role, or no template.
        ChangedMeanwhileError: it has changed since it was seen.
    """
    known = next((one for one in ROLES if one == role), None)
    if known is None:
        raise UsageError(f"there is no role '{role}' (there are {', '.join(ROLES)}).")
    sample = Item(
        "sample", known, "note", "manual_note", "active", "t", "d", "c", {}, (), "", "", 1
    )
    project(sample, (), Template(known, text, 0))
    if seen is not None and writing.version("template", role):
        writing.require_version("template", role, "template of role", seen)
    writing.save("template", role, "saved", {"role": role, "text": text, "saved_at": writing.at})
    return read_template(writing, known)


def project(item: Item, variants: Sequence[Lesson], template: Template) -> str:
    """Return what of an item enters a prompt.

    Args:
        variants: those that are shown.

    Raises:
        UsageError: the template cannot be used; the text says why.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Prompts are text and no markup: nothing is to be escaped.
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    fields: dict[str, Any] = {
        **asdict(item), "extra": _Further(item.extra), "citation": f"{CITATION}{item.id}",
        "variants": list(variants),
    }  # fmt: skip
    try:
        return environment.from_string(template.text).render(fields).strip()
    except (TemplateError, TypeError) as error:
        known = ", ".join(sorted(fields))
        raise UsageError(
            f"the template of role '{template.role}' cannot be used: {error} (known: {known})."
        ) from error


class _Further(dict[str, Any]):
    """Further fields; one that an item has not is empty, and so is what would be in it, for not
    every item has every field.
    """

    def __missing__(self, key: str) -> Any:
        from jinja2 import ChainableUndefined

        return ChainableUndefined(name=key)
