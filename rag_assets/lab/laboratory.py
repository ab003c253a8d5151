"""A workspace's laboratory: its store, its settings, and those that people saved over them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any  # values of settings, before they are checked

from pydantic import ValidationError

from rag_assets.lab.experience import replay_item, void_lessons, write_extraction
from rag_assets.lab.feedback import FeedbackForm, delete_feedback, write_feedback
from rag_assets.lab.products import delete_preset, read_product
from rag_assets.lab.recall import Nearness
from rag_assets.lab.runs import Run, read_run, record_run
from rag_assets.lab.store import Reading, Store, Writing
from rag_assets.llm import ChatModel, open_chat_model
from rag_assets.model import ConfigurationError, UsageError, first_fault
from rag_assets.model.settings import LabSettings
from rag_assets.storage import write_bytes
from rag_assets.workspace import WORKSPACE_MARKER, Workspace


@dataclass(frozen=True)
class Laboratory:
    """An open laboratory; one may serve all threads of a process.

    Args:
        written: the settings of config.yaml.
        open_model: returns the language model of `llm.roles.extract`; None where there is none.
    """

    workspace: Workspace
    written: LabSettings
    store: Store
    nearness: Nearness
    open_model: Callable[[], ChatModel | None] = field(repr=False)

    @property
    def settings(self) -> LabSettings:
        """What holds now: config.yaml, with what people saved over it since."""
        with self.store.reading() as reading:
            return settings_in_force(self.written, read_lab_settings(reading))


def lab_file(workspace: Workspace) -> Path:
    """Return where a workspace's laboratory is kept."""
    return workspace.meta / "lab" / "lab.sqlite"


def open_laboratory(workspace: Workspace) -> Laboratory:
    """Return the laboratory of a workspace; its store is made where it is missing.

    Raises:
        ConfigurationError: the workspace has none.
        DamagedFileError: its store cannot be read.
    """
    settings = workspace.settings
    if settings.lab is None:
        raise ConfigurationError(
            f"{workspace.root} has no laboratory: its {WORKSPACE_MARKER} has no section 'lab'. "
            "`rag lab init` writes it."
        )
    store = Store(lab_file(workspace), replay_events)
    return Laboratory(
        workspace,
        settings.lab,
        store,
        Nearness(settings, store),
        lambda: open_chat_model(workspace, role="extract"),
    )


def init_laboratory(workspace: Workspace) -> bool:
    """Give a workspace a laboratory; return whether its settings had none.

    Raises:
        ConfigurationError: the settings cannot be written that way.
    """
    path = workspace.root / WORKSPACE_MARKER
    is_new = workspace.settings.lab is None
    if is_new:
        text = path.read_bytes().decode("utf-8")
        if any(line.startswith("lab:") for line in text.splitlines()):
            raise ConfigurationError(
                f"{path}: 'lab' has no value. Remove the line and run the command again."
            )
        section = files("rag_assets.lab").joinpath("section.yaml").read_text(encoding="utf-8")
        write_bytes(path, f"{text.rstrip()}\n\n{section}".encode())
    open_laboratory(Workspace.open(workspace.root))
    return is_new


# Key → what it decides.
SAVABLE = {
    "experience.k_role": "items of the role that asks, of one recall",
    "experience.k_global": "items that concern all roles, of one recall",
    "comparison.method3": "whether a form begins with the history of the same set of products",
    "comparison.short_history": "what is said where that history is short: advise, or note",
    "recipes.rules": "further rules that recipes follow",
}
_SAVED = "lab"  # the one row of saved settings


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
    found = reading.rows("settings", id=_SAVED)
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
                "others are in config.yaml."
            )
        section, _, name = key.partition(".")
        whole[section][name] = value
    try:
        return LabSettings.model_validate(whole)
    except ValidationError as error:
        key, said, _ = first_fault(error)
        raise UsageError(f"'{key}': {said}.") from error


def save_lab_settings(
    lab: Laboratory, changes: Mapping[str, Any], *, at: str, by: str, seen: int | None = None
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
        if seen is not None and writing.version("settings", _SAVED):
            writing.require_version("settings", _SAVED, "the settings of", seen)
        before = read_lab_settings(writing)
        whole = {**before.values, **changes}
        kept = {key: value for key, value in whole.items() if value is not None}
        # What takes a known key back is left out; a wrong key is refused.
        said = {k: v for k, v in changes.items() if v is not None or k not in SAVABLE}
        settings_in_force(lab.written, SavedSettings({**kept, **said}, 0))
        if kept != dict(before.values):
            version = writing.change("settings", _SAVED, "saved", kept)
            row = {"id": _SAVED, "version": version, "saved": kept, "saved_at": writing.at}
            writing.put("settings", row)
        return read_lab_settings(writing)


def replay_events(writing: Writing, events: Iterable[Mapping[str, Any]]) -> int:
    """Make the rows of a laboratory of earlier versions, which kept events; return how many.

    Raises:
        UsageError: an event does not follow from those before.
    """
    number = 0
    for number, event in enumerate(events, start=1):
        try:
            _replay(replace(writing, at=event["at"], by=event["by"]), event)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, UsageError):
                raise
            raise UsageError(
                f"line {number}: the event '{event.get('kind')}' of {event.get('entity')} "
                f"'{event.get('subject')}' does not follow from those before ({error}). Nothing "
                "was imported."
            ) from error
    return number


def _replay(writing: Writing, event: Mapping[str, Any]) -> None:  # noqa: C901, PLR0912 - a case each
    subject, kind, body = event["subject"], event["kind"], event["body"]
    match event["entity"], kind:
        case "run", _:
            record_run(writing, Run.model_validate(body))
        case "product", _:
            status = "deleted" if kind == "deleted" else "active"
            name = body["name"] if "name" in body else read_product(writing, subject).name
            writing.save("product", subject, kind, {"id": subject, "name": name, "status": status})
        case "preset", "saved":
            writing.save("preset", subject, kind, {"id": subject, **body, "status": "active"})
        case "preset", _:
            delete_preset(writing, subject)
        case "feedback", "deleted":
            delete_feedback(writing, subject)
        case "feedback", _:
            texts = {key: body[key] for key in ("as_made", "pros", "cons", "other")}
            values = {one["product_id"]: one["value"] for one in body["products"]}
            form = FeedbackForm(body["score"], values, body["recipe_index"], **texts)
            run, _ = read_run(writing, subject)
            write_feedback(writing, run, form, learn=body.get("learn"))
        case "report", _:
            version = writing.change("report", subject, kind, body["strategy"])
            writing.put("reports", {
                "run_id": subject, "version": version, "made_at": writing.at,
                "signature": body["comparison"]["signature"], "report": body,
            })  # fmt: skip
        case "template", _:
            row = {"role": subject, "text": body["text"], "saved_at": writing.at}
            writing.save("template", subject, kind, row)
        case "preferences", _:
            version = writing.change("settings", _SAVED, kind, body["saved"])
            row = {"id": _SAVED, "version": version, "saved": body["saved"]}
            writing.put("settings", {**row, "saved_at": writing.at})
        case "extraction", "made":
            write_extraction(writing, subject, body["run_id"], "made", body["record"])
        case "extraction", _:
            (old,) = writing.rows("extractions", id=subject)
            write_extraction(writing, subject, old["run_id"], "rolled_back", old["record"])
            void_lessons(writing, subject)
        case "item", _:
            replay_item(writing, subject, kind, body)
        case other:
            raise ValueError(f"nothing is known of {other}")
