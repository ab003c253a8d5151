"""What passes between the parent and its worker processes: jobs and reports as JSON."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.model import FailureKind, ParseFailure, ParseReport

_PATHS = ("path", "folder", "blobs", "answer")


@dataclass(frozen=True, slots=True)
class ParseJob:
    """One file to parse.

    Args:
        content_hash: SHA-256 that the bytes at `path` are expected to have.
        path: the raw file.
        extension: of its name.
        password: from its sidecar.
        folder: of the parses; a readable parse that stands there already is taken as it is.
        blobs: folder for the contents of attachments, by their hash.
        request: from `request_fingerprint`.
        stem: of its name, for parsers that declare `reads_stem`.
        answer: folder of a cloud provider's answer, None where none was asked.
    """

    content_hash: str
    path: Path
    extension: str
    password: str | None
    folder: Path
    blobs: Path
    request: str
    stem: str = ""
    answer: Path | None = None

    def output(self, fingerprint: str) -> Path:
        """Return the final place of the parse that has this fingerprint."""
        return self.folder / f"{self.content_hash}-{fingerprint[:16]}.parquet"

    def to_message(self) -> dict[str, Any]:
        """Return the job as JSON-able values."""
        paths = {name: str(getattr(self, name)) for name in _PATHS if getattr(self, name)}
        return {**dataclasses.asdict(self), **paths}

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> "ParseJob":
        """Return the job that `to_message` has written."""
        paths = {name: Path(message[name]) for name in _PATHS if message[name]}
        return cls(**{**message, **paths})


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a file: known once its bytes are sniffed, empty before."""

    media_type: str = ""
    parser: str = ""
    parser_version: str = ""


def failed_report(
    job: ParseJob, reader: Reader, failure: ParseFailure, seconds: float
) -> ParseReport:
    """Return the report of a document that could not be parsed.

    Its `doc_id` is the hash of the bytes, since there is no text.
    """
    kind: FailureKind = failure.kind
    return ParseReport(
        content_hash=job.content_hash,
        status="failed",
        parser=reader.parser,
        parser_version=reader.parser_version,
        media_type=reader.media_type,
        doc_id=job.content_hash,
        reason_code=failure.reason_code,
        message=failure.message,
        kind=kind,
        seconds=seconds,
    )


def restore_report(fields: dict[str, Any]) -> ParseReport:
    """Return the report that `dataclasses.asdict` and JSON have made of one."""
    names = ("authors", "removed_templates", "warnings", "blobs")
    lists = {name: tuple(fields[name]) for name in names}
    return ParseReport(**{**fields, **lists})
