"""Sidecars: `<file>.meta.yaml` beside a raw file says what the file itself does not."""

import datetime
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
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

from rag_assets.model import ConfigurationError, drop_controls, hash_bytes, hide_in, shown_value
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
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        value = shown_value(hide_in(first["input"]))
        shown = "" if key == "password" else f", got {value}"
        raise ConfigurationError(f"{path.name}: '{key}': {first['msg'].lower()}{shown}.") from None


# `<file>.meta.yaml` in any case, with another suffix of its kind, or with one that an editor adds.
_LIKE = re.compile(
    r"(?P<target>.+)\.meta\.(?P<kind>ya?ml|json)(?P<rest>[^/]*)", re.IGNORECASE | re.DOTALL
)
# `paper.pdf.yaml`. Without the first suffix it is a document: `README.yaml` beside `README`.
_BARE = re.compile(r"(?is)(?P<target>.+[^/]\.[^./]+)\.ya?ml")


FOLDER_IN_PLACE = "a folder has the sidecar's name; rename it."


@dataclass(frozen=True, slots=True)
class Pairs:
    """What sidecars and files are to each other.

    Args:
        misnamed: file that is meant as a sidecar → what to call it.
        withheld: file → why its sidecar cannot be used.
    """

    misnamed: dict[str, str] = field(default_factory=dict)
    withheld: dict[str, str] = field(default_factory=dict)


def pair_sidecars(
    files: Iterable[str], sidecars: Collection[str], unusable: Mapping[str, str]
) -> Pairs:
    """Return which files are misnamed sidecars, and which are withheld.

    Args:
        files: every plain file but those of the right name, by source_uri.
        sidecars: the files that have a sidecar of the right name that is a plain file, by
            source_uri, whether they are there or not.
        unusable: what is no plain file or cannot be reached, by source_uri, with the reason.
    """
    listed = list(files)
    documents = _Documents(name for name in listed if not _LIKE.fullmatch(name))
    pairs = Pairs()
    for name in listed:
        meant = list(documents.meant_by(name))
        if meant:
            right = f"{_last(meant[0])}{SUFFIX}"
            pairs.misnamed[name] = right
            reason = f"its name is not that of a sidecar; rename it to {right}"
            _withhold(pairs, meant, name, reason, sidecars)
    for target in sorted(sidecars):
        if target not in documents.names:
            name = f"{target}{SUFFIX}"
            for document in documents.meant_by(name):
                reason = f"no file has exactly its name; rename it to {_last(document)}{SUFFIX}"
                _withhold(pairs, [document], name, reason, sidecars)
    for name, reason in unusable.items():
        _withhold(pairs, documents.meant_by(name), name, reason, sidecars)
    for name in pairs.misnamed:
        pairs.withheld.pop(name, None)
    return pairs


def orphan_warnings(files: Collection[str], sidecars: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each sidecar without its file; arguments as of `pair_sidecars`."""
    present = set(files)
    return tuple(
        f"{uri}{SUFFIX}: a sidecar without its file; remove it or bring the file back."
        for uri in sorted(sidecars)
        if uri not in present
    )


def _withhold(
    pairs: Pairs, meant: Iterable[str], name: str, reason: str, sidecars: Collection[str]
) -> None:
    for document in meant:
        # One that has the right name speaks; what lies beside it, a copy of an editor, does not.
        if document not in sidecars:
            pairs.withheld.setdefault(document, f"{_last(name)}: {reason}")


class _Documents:
    """Files by the names under which a sidecar may mean them."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = set(names)

    @cached_property
    def _alike(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """The names by their folded form, whole and without their suffix.

        Made when something asks that is not called exactly as it should be: most folders have
        nothing of the kind, and the sensor looks at all names.
        """
        folded, stems = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        for name in sorted(self.names):
            folded[_folded(name)].append(name)
            stem, dot, suffix = name.rpartition(".")
            if dot and "/" not in suffix:
                stems[_folded(stem)].append(name)
        return folded, stems

    def meant_by(self, name: str) -> Iterator[str]:
        """Yield the files that something of this name speaks of, itself apart."""
        match = _LIKE.fullmatch(name) or _BARE.fullmatch(name)
        if match is None:
            return
        target = match["target"]
        exact = [target] if target in self.names else self._alike[0].get(_folded(target), [])
        # `paper.meta.yaml` for paper.pdf; a JSON of that name is often another tool's.
        is_plain = match.re is _LIKE and match["kind"].lower() != "json" and not match["rest"]
        by_stem = self._alike[1].get(_folded(target), []) if is_plain and not exact else []
        yield from (each for each in (*exact, *by_stem) if each != name)


def _folded(name: str) -> str:
    """Return a name without case and in one form, in its folder: macOS and Windows mix them."""
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{unicodedata.normalize('NFC', last).casefold()}"


def _last(name: str) -> str:
    return name.rpartition("/")[2]


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
