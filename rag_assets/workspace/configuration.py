"""Settings of a namespace: its YAML over the workspace's config.yaml over configs/rag.yaml."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard, get_args  # Any: YAML before it is checked

from pydantic import BaseModel, ValidationError
from rapidfuzz import process

from rag_assets.model import ConfigurationError, hide_in, shown_value
from rag_assets.model.settings import EmbedSettings, ModelSettings, Settings
from rag_assets.workspace.bounded_yaml import parse_yaml, read_bounded
from rag_assets.workspace.naming import translate_names

# What a person can follow, for pydantic's types of errors that speak of its own classes.
_MISSING = "missing"  # the value is then the section around the key
_LINES = "expected `key: value` lines below it"
_RULES = {"missing": _MISSING, "model_type": _LINES, "dict_type": _LINES}
# Replaced whole by a later file: a namespace that names its places means just those.
_WHOLE = frozenset({"places"})
# Settings, and values of settings, that earlier versions had; and what to write now.
_READ_BY_A_MODEL = "Use 'verify.scorer: llm' (`rag models list` shows the models) or 'auto'."
_BY_SCORES = (
    "Leave it out: scores are summed, each between its searcher's lowest and highest; "
    "'retrieve.fusion.kind: rrf' sums reciprocal ranks."
)
_FIXED = "Leave it out: it has one value now, in code."
_REMOVED_KEYS = {
    **dict.fromkeys(
        (
            "parse.max_attempts",
            "parse.ocr_dpi",
            "parse.ocr_seconds_per_page",
            *(
                f"parse.mineru.{name}"
                for name in (
                    "batch_files",
                    "max_pages",
                    "max_megabytes",
                    "part_pages",
                    "attempts",
                    "backoff_seconds",
                    "poll_seconds",
                    "wait_seconds",
                )
            ),
            "publish",
            "retrieve.text",
            "llm.threads",
            "llm.timeout_seconds",
            "llm.attempts",
            "llm.backoff_seconds",
            "verify.weak_threshold",
            "verify.llm",
            "audit.suggestions_top_k",
            "audit.counterevidence_top_k",
            "answer.calls",
            "answer.repairs",
            "answer.tokens",
            "sensors",
            "desk.dagster_url",
        ),
        _FIXED,
    ),
    "export": "Leave it out: `rag parse` writes parsed/, and `rag chunk` writes chunks/.",
    "llm.record": "Leave it out: every call is kept below meta/llm/.",
    "retrieve.references": "Leave it out: `--filter source_subtype=references` finds them.",
    "retrieve.rewrite": "Use 'llm.roles: {rewrite: {kind: none}}' to have no question rewritten.",
    "verify.nli": _READ_BY_A_MODEL,
    "retrieve.section_gain": "Leave it out: sections that a question hints at gain nothing now.",
    "retrieve.fusion.score_mode": _BY_SCORES,
    "retrieve.fusion.normalize": _BY_SCORES,
    "retrieve.graph": "Leave it out: entities are searched through passages, as by 'local'.",
    "lab.space": "Leave it out: `rag lab suggest` takes its search space from past experiments.",
}
_REMOVED_VALUES = {
    ("verify.scorer", "nli"): _READ_BY_A_MODEL,
    ("parse.parser", "pymupdf4llm"): "Use 'parse.parser: pymupdf', or 'mineru' (a cloud service).",
    ("verify.scorer", "coverage"): "Use 'verify.scorer: facts', which compares checkable facts, "
    "or 'similarity'.",
}


@dataclass(frozen=True, slots=True)
class Layer:
    """One configuration file as read."""

    path: Path
    values: Mapping[str, Any]


def configs_folder() -> Path:
    """Return the folder with the shipped defaults, installed or in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_configs"
    return installed if installed.is_dir() else package.parent / "configs"


def read_layer(path: Path) -> Layer:
    """Return a configuration file whose keys are all known.

    Raises:
        ConfigurationError: names file, key and the nearest valid key.
    """
    try:
        data = read_bounded(path)
    except FileNotFoundError as error:
        raise ConfigurationError(f"{path}: there is no such file (any more).") from error
    return parse_layer(path, data)


def parse_layer(path: Path, data: bytes) -> Layer:
    """Return what a configuration file says that holds, or is to hold, `data`.

    Raises:
        ConfigurationError: as `read_layer`.
    """
    values = parse_yaml(data, str(path))
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ConfigurationError(
            f"{path}: expected `key: value` lines, got {type(values).__name__}."
        )
    values = _write_out_models(path, translate_names(path, values))
    _refuse_removed(path, values)
    _refuse_unknown_keys(path, values, Settings, ())
    return Layer(path, values)


def _refuse_removed(path: Path, values: Mapping[Any, Any], at: str = "") -> None:
    for key, value in values.items():
        name = f"{at}{key}"
        if name in _REMOVED_KEYS:
            raise ConfigurationError(f"{path}: '{name}' was removed. {_REMOVED_KEYS[name]}")
        if isinstance(value, str) and (name, value) in _REMOVED_VALUES:
            raise ConfigurationError(
                f"{path}: '{name}: {value}' was removed. {_REMOVED_VALUES[name, value]}"
            )
        if isinstance(value, dict):
            _refuse_removed(path, value, f"{name}.")


def _write_out_models(path: Path, values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a file's settings with `embed: {kind, model, …}` written as a list of one model.

    Done before layers are merged, so that a single model replaces the models of the layer below.
    `kind: hashing` is a model by itself and needs no name.
    """
    embed = values.get("embed")
    if not isinstance(embed, dict):
        return dict(values)
    models = embed.get("models")
    short = [str(key) for key in embed if key != "models"]
    if short and "models" in embed:
        raise ConfigurationError(
            f"{path}: 'embed' has both 'models' and '{short[0]}': write each model's settings "
            "into its entry of 'models', or leave 'models' out to name a single model."
        )
    if short:
        _refuse_unknown_keys(path, embed, ModelSettings, ("embed",))
        wanted = ("kind",) if embed.get("kind") == "hashing" else ("kind", "model")
        missing = [key for key in wanted if key not in embed]
        if missing:
            raise ConfigurationError(
                f"{path}: 'embed.{short[0]}' stands without '{missing[0]}': a single model is "
                "written `embed: {kind: …, model: …}`, several as a list below 'embed.models'."
            )
        models = [embed]
    if not isinstance(models, list):
        return dict(values)
    named = []
    for model in models:
        is_nameless = isinstance(model, dict) and model.get("kind") == "hashing"
        named.append({"model": "hashing", **model} if is_nameless else model)
    return {**values, "embed": {**embed, "models": named} if not short else {"models": named}}


def _refuse_unknown_keys(
    path: Path, values: Mapping[Any, Any], model: type[BaseModel], at: tuple[str, ...]
) -> None:
    known = model.model_fields
    for key, value in values.items():
        dotted = ".".join((*at, str(key)))
        if key not in known:
            nearest = process.extractOne(str(key), list(known), score_cutoff=50)
            hint = f"; did you mean '{nearest[0]}'?" if nearest else ""
            raise ConfigurationError(
                f"{path}: unknown key '{dotted}'{hint} Known keys here: {', '.join(sorted(known))}."
            )
        if model is EmbedSettings and key == "models" and isinstance(value, list):
            for number, entry in enumerate(value):
                if isinstance(entry, dict):
                    at_entry = (*at, str(key), str(number))
                    _refuse_unknown_keys(path, entry, ModelSettings, at_entry)
            continue
        # A mapping of sections by names of the user's own, as `places`.
        parts = get_args(known[key].annotation)
        if len(parts) == 2 and _is_section(parts[1]) and isinstance(value, dict):
            for name, entry in value.items():
                if isinstance(entry, dict):
                    at_entry = (*at, str(key), repr(name) if name == "" else str(name))
                    _refuse_unknown_keys(path, entry, parts[1], at_entry)
            continue
        # A section that may be missing, as `lab`, is one or None.
        section = next((part for part in parts if _is_section(part)), known[key].annotation)
        if _is_section(section) and isinstance(value, dict):
            _refuse_unknown_keys(path, value, section, (*at, str(key)))


def _is_section(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def merge_layers(layers: Sequence[Layer]) -> Settings:
    """Return the settings that `layers` make, the last one winning.

    Raises:
        ConfigurationError: names the file that holds the refused value, its key and the rule.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        _merge(merged, layer.values)
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigurationError(
            _explain(first["loc"], _RULES.get(first["type"], first["msg"]), first["input"], layers)
        ) from error
    # Rules between two values, which no single field can know.
    chunk = settings.chunk
    names = [model.model for model in settings.embed.models]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigurationError(
            _explain(("embed", "models"), "each model needs a different name", twice, layers)
        )
    if settings.embed.models[0].is_sparse:
        raise ConfigurationError(
            _explain(
                ("embed", "models"),
                "list a dense model before the sparse encoder",
                names[0],
                layers,
            )
        )
    if not chunk.min_tokens <= chunk.target_tokens <= chunk.max_tokens:
        raise ConfigurationError(
            _explain(
                ("chunk",),
                "sizes must be min_tokens <= target_tokens <= max_tokens",
                (chunk.min_tokens, chunk.target_tokens, chunk.max_tokens),
                layers,
            )
        )
    return settings


def _merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict) and key not in _WHOLE:
            section = dict(into[key])
            _merge(section, value)
            into[key] = section
        else:
            into[key] = value


def _explain(
    location: tuple[int | str, ...], rule: str, value: Any, layers: Sequence[Layer]
) -> str:
    source = max(reversed(layers), key=lambda layer: _depth(layer.values, location)).path
    dotted = ".".join(str(part) if part != "" else "''" for part in location)
    if rule == _MISSING:
        known = ", ".join(map(str, value)) if isinstance(value, dict) and value else "nothing"
        return f"{source}: '{dotted}' is missing: it must be set there (set are: {known})."
    rule = rule[:1].lower() + rule[1:]
    return f"{source}: '{dotted}': {rule}, got {shown_value(hide_in(value))}."


def _depth(values: Any, location: tuple[int | str, ...]) -> int:
    """Return how far a file speaks of a key: of its section, of a part of it, of the key."""
    depth = 0
    for part in location:
        if not isinstance(values, dict) or part not in values:
            break
        if part in _WHOLE:
            return len(location)
        values = values[part]
        depth += 1
    return depth


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting as it holds.

    Args:
        key: dotted, `verify.threshold`.
        origin: the file that says so.
        default: what the shipped file says.
    """

    key: str
    value: Any
    origin: Path
    default: Any


def settings_with_origin(layers: Sequence[Layer]) -> list[SettingLine]:
    """Return every setting that `layers` make, with the file that decides it, sorted by key.

    What is secret in an address is left out.

    Args:
        layers: the shipped defaults first.

    Raises:
        ConfigurationError: as `merge_layers`.
    """
    settings = merge_layers(layers).model_dump(mode="json", exclude_unset=True)
    defaults = dict(dotted(layers[0].values))
    lines = []
    for key, value in dotted(settings):
        section = key.partition(".")[0]
        location = (section,) if section in _WHOLE else tuple(key.split("."))
        origin = next(
            layer.path
            for layer in reversed(layers)
            if _depth(layer.values, location) == len(location)
        )
        # A file that lies in no other place is of the place "".
        shown = key.replace("..", ".''.")
        lines.append(SettingLine(shown, hide_in(value), origin, defaults.get(key)))
    return lines


def dotted(values: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested sections by their dotted keys, sorted."""
    for key, value in sorted(values.items()):
        if isinstance(value, dict) and value:
            yield from dotted(value, f"{at}{key}.")
        else:
            yield f"{at}{key}", value


@cache
def default_layer() -> Layer:
    """Return the shipped defaults."""
    return read_layer(configs_folder() / "rag.yaml")


def shipped_settings(over: Path | None = None, template: str | None = None) -> Settings:
    """Return the shipped settings, for work outside a workspace.

    Args:
        over: a file that is laid over them, as a workspace's config.yaml is.
        template: of a namespace, in configs/namespaces/; laid over the shipped ones, below `over`.

    Raises:
        ConfigurationError: names the file, the key and the rule.
    """
    layers = [default_layer()]
    if template is not None:
        layers.append(read_layer(configs_folder() / "namespaces" / f"{template}.yaml"))
    if over is not None:
        layers.append(read_layer(over))
    return merge_layers(layers)
