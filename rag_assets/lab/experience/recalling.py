"""Experience that is asked for: a few items of the role that asks, a few that concern all."""

from dataclasses import dataclass, replace

from rag_assets.lab.experience.items import ROLES, Item, Role
from rag_assets.lab.experience.nearness import Nearness
from rag_assets.lab.experience.stored import CITATION, list_items
from rag_assets.lab.experience.templates import project, read_template
from rag_assets.lab.store import Store
from rag_assets.model import UsageError


@dataclass(frozen=True, slots=True)
class Recalled:
    """An item as it was found and shown; a run keeps both, for an item may change.

    Args:
        citation: `mem:<id>`; `version` of the item.
        score: cosine of question and item.
        text: what enters a prompt, by the template of the role that asked.
        template_version: of that template; 0 is the shipped one.
    """

    item: Item
    citation: str
    version: int
    score: float
    text: str
    template_version: int


def recall(
    store: Store,
    nearness: Nearness,
    question: str,
    role: str,
    *,
    k_role: int,
    k_global: int,
    for_run: str | None = None,
) -> list[Recalled]:
    """Return the items that are nearest to a question, of a role and of all, each once.

    Archived ones are never found. What a run itself taught is never shown to it.

    Args:
        role: that asks.
        k_role: items of that role at most; `k_global` of the role `global`.
        for_run: the run that asks.

    Raises:
        UsageError: no such role, or the question is empty.
    """
    if role not in ROLES:
        raise UsageError(f"there is no role '{role}' (there are {', '.join(ROLES)}).")
    if not question.strip():
        raise UsageError("experience is asked for by a question, got an empty one.")
    with store.reading() as reading:
        found = {
            each: _without(list_items(reading, status="active", role=each), for_run)
            for each in dict.fromkeys((role, "global"))
        }
        template = read_template(reading, _role(role))
    # One call for all: a remote model is asked once.
    items = [item for each in found.values() for item in each]
    scores = dict(
        zip(
            (i.id for i in items),
            nearness.search(question, [i.content for i in items]),
            strict=True,
        )
    )
    best: dict[str, Item] = {}
    for each, most in ((role, k_role), ("global", k_global)):
        ranked = sorted(found[each], key=lambda i: (-scores[i.id], i.created_at, i.id))
        best |= {item.id: item for item in ranked[:most]}
    return [
        Recalled(
            item,
            f"{CITATION}{item.id}",
            item.version,
            round(scores[item.id], 6),
            project(item, item.variants, template),
            template.version,
        )
        for item in best.values()
    ]


def _role(name: str) -> Role:
    return next(role for role in ROLES if role == name)


def _without(items: list[Item], run_id: str | None) -> list[Item]:
    """Return the items without what a run taught: whole items, or what joined them."""
    if run_id is None:
        return items
    kept = []
    for item in items:
        is_own = item.type == "reasoningbank_item" and item.lessons[0].run_id == run_id
        if not is_own:
            others = tuple(lesson for lesson in item.lessons if lesson.run_id != run_id)
            kept.append(replace(item, lessons=others))
    return kept
