"""Settings that people change while the laboratory is at work: they go over those of config.yaml.

They are events like all that a person enters: with versions, by whom, and in every export. What
is saved here is no more than specification 004 calls configurable; no list of metals is among it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any  # values of settings, before they are checked

from pydantic import ValidationError

from rag_assets.lab.store import Draft, EntityKind, Event, Reading, Rows
from rag_assets.lab.store.tables import preferences
from rag_assets.model import UsageError
from rag_assets.settings import LabSettings

if TYPE_CHECKING:
    from rag_assets.lab.opening import Laboratory

# Key → what it decides.
SAVABLE = {
    "experience.k_role": "items of the role that asks, of one recall",
    "experience.k_global": "items that concern all roles, of one recall",
    "comparison.method3": "whether a form begins with the history of the same set of products",
    "comparison.short_history": "what is said where that history is short: advise, or note",
    "recipes.rules": "further rules that recipes follow",
}
_SUBJECT = "lab"


@dataclass(frozen=True, slots=True)
class SavedSettings:
    """What was saved over config.yaml.

    Args:
        values: by key of `SAVABLE`, only those that were saved.
        version: to be given back as `seen`; 0 where nothing was ever saved.
    """

    values: Mapping[str, Any]
    version: int


def read_lab_settings(reading: Reading) -> SavedSettings:
    """Return what was saved over config.yaml."""
    found = reading.rows(preferences, id=_SUBJECT)
    return SavedSettings(found[0]["saved"], found[0]["version"]) if found else SavedSettings({}, 0)


def settings_in_force(written: LabSettings, saved: SavedSettings) -> LabSettings:
    """Return the settings of config.yaml with what was saved over them.

    Raises:
        UsageError: a key is none of `SAVABLE`, or its value breaks a rule.
    """
    whole = written.model_dump(mode="json")
    for key, value in saved.values.items():
        if key not in SAVABLE:
            raise UsageError(
                f"'{key}' is no setting that is saved here (there are {', '.join(SAVABLE)}); the "
                "others stand in config.yaml."
            )
        section, _, name = key.partition(".")
        whole[section][name] = value
    try:
        return LabSettings.model_validate(whole)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise UsageError(f"'{key}': {first['msg']}.") from error


def save_lab_settings(
    lab: "Laboratory", changes: Mapping[str, Any], *, at: str, by: str, seen: int | None = None
) -> SavedSettings:
    """Save settings over those of config.yaml; what does not change writes nothing.

    Args:
        changes: by key of `SAVABLE`; None takes a key back to what config.yaml says.
        seen: the version that was seen.

    Raises:
        UsageError: a key is unknown, or a value breaks its rule.
        ChangedMeanwhileError: somebody else has saved since.
    """
    with lab.store.writing(at, by) as writing:
        if seen is not None and writing.stream("preferences", _SUBJECT):
            writing.require_version("preferences", _SUBJECT, "the settings of", seen)
        before = read_lab_settings(writing)
        whole = {**before.values, **changes}
        kept = {key: value for key, value in whole.items() if value is not None}
        settings_in_force(lab.written, SavedSettings({**kept, **_known(changes)}, 0))
        if kept != dict(before.values):
            writing.append(Draft("preferences", _SUBJECT, "saved", {"saved": kept}))
        return read_lab_settings(writing)


def _known(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes without those that take a known key back: a wrong key is refused."""
    return {k: v for k, v in changes.items() if v is not None or k not in SAVABLE}


def _rows(subject: str, stream: Sequence[Event]) -> Rows:
    last = stream[-1]
    row = {
        "id": subject, "version": len(stream), "saved": dict(last.body["saved"]),
        "saved_at": last.at,
    }  # fmt: skip
    return {"preferences": [row]}


PREFERENCES = EntityKind("preferences", _rows, lambda stream: dict(stream[-1].body["saved"]))
