"""Sidecars: `<file>.meta.yaml` beside a raw file says what the file itself does not."""

import datetime
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
)
from rapidfuzz import process

from rag_assets.model import (
    ConfigurationError,
    drop_controls,
    first_fault,
    hash_bytes,
    hide_in,
    shown_value,
)
from rag_assets.workspace.bounded_yaml import read_bounded, read_yaml

SUFFIX = ".meta.yaml"
# What can be written in a draft as {#uid} without a doubt where it ends.
UID_PATTERN = r"[^\W_](?:[\w.\-]*\w)?"


def _one_line(text: str) -> str:
    return " ".join(drop_controls(text).split())


_Text = Annotated[str, AfterValidator(_one_line), Field(min_length=1)]


class Sidecar(BaseModel):
    """What a sidecar may say. `citable` can only lower what the place says.

    `source_uri` is where the file was read from, `metadata` whatever else its owner keeps with it
    (spec 001).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    doc_uid: Annotated[str, Field(pattern=rf"^{UID_PATTERN}$", max_length=200)] | None = None
    citation_key: _Text | None = None
    title: _Text | None = None
    authors: tuple[_Text, ...] = ()
    publisher: _Text | None = None
    url: _Text | None = None
    doi: _Text | None = None
    journal: _Text | None = None
    volume: _Text | None = None
    issue: _Text | None = None
    page_range: _Text | None = None
    captured_at: _Text | None = None
    accessed_at: _Text | None = None
    published_date: _Text | None = None
    year: Annotated[int, Field(ge=1000, le=9999)] | None = None
    language: _Text | None = None
    standing: Literal["none", "retracted", "concern", "corrected"] | None = None
    tags: tuple[_Text, ...] = ()
    citable: bool | None = None
    source_uri: _Text | None = None
    metadata: dict[str, Any] = {}
    password: SecretStr | None = None

    @field_validator("captured_at", "accessed_at", "published_date", mode="before")
    @classmethod
    def _date_to_text(cls, value: Any) -> Any:
        # YAML reads 2026-03-01 as a date; the catalogue keeps what was written.
        return value.isoformat() if isinstance(value, datetime.date) else value

    @field_validator("url", "source_uri", "metadata", mode="after")
    @classmethod
    def _without_credentials(cls, value: Any) -> Any:
        # Whoever wrote them beside the file did not mean them for the catalogue.
        return hide_in(value)

    @field_validator("authors", "tags", mode="before")
    @classmethod
    def _list_to_tuple(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value


def state_of_broken(path: Path) -> str:
    """Return what tells one broken sidecar from another, so that one that is edited is seen."""
    try:
        return f" [{hash_bytes(read_bounded(path))[:12]}]"
    except (ConfigurationError, OSError):  # the reason that is told is all that is known of it
        return ""


def read_sidecar(path: Path) -> Sidecar:
    """Return what a sidecar says.

    Raises:
        ConfigurationError: empty, not YAML, an unknown key or a wrong value; names the key.
    """
    # By its name alone: what is said of a sidecar is content, and must not hold where raw/ lies.
    values = read_yaml(path, path.name)
    if values is None:
        raise ConfigurationError(
            f"{path.name}: the sidecar is empty. Write `key: value` lines or delete it."
        )
    if not isinstance(values, dict):
        raise ConfigurationError(f"{path.name}: expected `key: value` lines.")
    for key in values:
        if key not in Sidecar.model_fields:
            nearest = process.extractOne(str(key), list(Sidecar.model_fields), score_cutoff=50)
            hint = f" Did you mean '{nearest[0]}'?" if nearest else ""
            raise ConfigurationError(f"{path.name}: unknown key {shown_value(key)}.{hint}")
    try:
        return Sidecar.model_validate(values)
    except ValidationError as error:
        key, said, value = first_fault(error)
        value = shown_value(hide_in(value))
        shown = "" if key == "password" else f", got {value}"
        raise ConfigurationError(f"{path.name}: '{key}': {said.lower()}{shown}.") from None


def orphan_warnings(files: Collection[str], sidecars: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each sidecar without its file."""
    present = set(files)
    return tuple(
        f"{uri}{SUFFIX}: a sidecar without its file; remove it or bring the file back."
        for uri in sorted(sidecars)
        if uri not in present
    )


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file below a raw folder, as it was seen.

    Args:
        source_uri: `<root name>/<path>`, POSIX, never absolute.
        file: where it can be read now (absolute; provenance).
        status: `ok`, or `refused` with `reason_code` and `message`.
        content_hash: SHA-256 of the bytes, empty when refused.
        sidecar: canonical JSON of the sidecar without its password, empty when there is none.
        sidecar_error: why the sidecar cannot be used, empty when it can.
        password_hash: SHA-256 of the sidecar's password; it is a parse hint.
    """

    source_uri: str
    file: str
    status: str
    source_type: str
    source_subtype: str
    citable: bool
    reason_code: str = ""
    message: str = ""
    content_hash: str = ""
    size: int = 0
    sidecar: str = ""
    sidecar_error: str = ""
    password_hash: str = ""

    @property
    def content_fields(self) -> tuple[str | bool, ...]:
        """Everything that later stages may depend on; the rest is provenance."""
        return (
            self.source_uri,
            self.status,
            self.source_type,
            self.source_subtype,
            self.citable,
            self.reason_code,
            self.content_hash,
            self.sidecar,
            self.sidecar_error,
            self.password_hash,
        )
