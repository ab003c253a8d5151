"""What of an item enters a prompt: a template for each role, with versions.

A new field of an item (`extra`) needs a line in a template, and nothing of the code.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rag_assets.lab.experience.items import ROLES, Item, Lesson, Role
from rag_assets.lab.experience.stored import CITATION
from rag_assets.lab.store import Draft, EntityKind, Event, Reading, Rows, Writing
from rag_assets.lab.store.tables import templates
from rag_assets.model import UsageError

DEFAULT_TEMPLATE = (
    "{{ citation }} ({{ kind }}{% if title %}: {{ title }}{% endif %})\n"
    "{{ content }}"
    "{% for variant in variants %}\nAlso: {{ variant.content }}{% endfor %}"
)


@dataclass(frozen=True, slots=True)
class Template:
    """The template of one role; version 0 is the shipped one."""

    role: Role
    text: str
    version: int


def read_template(reading: Reading, role: Role) -> Template:
    """Return the template that holds for a role."""
    found = reading.rows(templates, role=role)
    if not found:
        return Template(role, DEFAULT_TEMPLATE, 0)
    return Template(role, found[0]["text"], found[0]["version"])


def list_templates(reading: Reading, role: Role) -> list[Template]:
    """Return every template that a role has had, the shipped one first."""
    saved = [event.body["text"] for event in reading.stream("template", role)]
    texts = (DEFAULT_TEMPLATE, *saved)
    return [Template(role, text, version) for version, text in enumerate(texts)]


def save_template(writing: Writing, role: str, text: str, seen: int | None = None) -> Template:
    """Give a role another template; the ones before stay in the events.

    Args:
        text: Jinja2, with `citation` and the fields of an item by their names; `variants` are the
            lessons that say the same in other words.
        seen: the version that was seen; 0 for the shipped one.

    Raises:
        UsageError: no such role, or no template.
        ChangedMeanwhileError: it has changed since it was seen.
    """
    if role not in ROLES:
        raise UsageError(f"there is no role '{role}' (there are {', '.join(ROLES)}).")
    project(_sample(role), (), Template(role, text, 0))
    if seen is not None and writing.stream("template", role):
        writing.require_version("template", role, "template of role", seen)
    writing.append(Draft("template", role, "saved", {"text": text}))
    return read_template(writing, role)


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
        **asdict(item),
        "extra": _Further(item.extra),
        "citation": f"{CITATION}{item.id}",
        "variants": list(variants),
    }
    try:
        return environment.from_string(template.text).render(fields).strip()
    except (TemplateError, TypeError) as error:
        known = ", ".join(sorted(fields))
        raise UsageError(
            f"the template of role '{template.role}' cannot be used: {error} (known: {known})."
        ) from error


class _Further(dict[str, Any]):
    """Further fields; one that an item has not is empty, for not every item has every field."""

    def __missing__(self, key: str) -> str:
        return ""


def _sample(role: Role) -> Item:
    return Item(
        id="sample", role=role, kind="note", type="manual_note", status="active", title="t",
        description="d", content="c", extra={}, lessons=(), created_at="", updated_at="", version=1,
    )  # fmt: skip


def _rows(subject: str, stream: Sequence[Event]) -> Rows:
    last = stream[-1]
    row = {
        "role": subject,
        "version": len(stream),
        "text": last.body["text"],
        "saved_at": last.at,
    }
    return {"templates": [row]}


TEMPLATES = EntityKind("template", _rows, lambda stream: dict(stream[-1].body))
