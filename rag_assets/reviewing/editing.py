"""One sentence of a draft replaced: a new revision of its file, whole or not at all."""

import codecs
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rag_assets.model import (
    ChangedMeanwhileError,
    UsageError,
    drop_controls,
    hash_bytes,
)
from rag_assets.storage import Notify, append_log, explained_errors, hold_lock, rewrite_bytes
from rag_assets.workspace import Workspace

# Characters; what is longer is no sentence.
LONGEST = 20_000
TEXT_SUFFIXES = (".md", ".markdown", ".txt")


@dataclass(frozen=True, slots=True)
class SentenceEdit:
    """What is to stand in the place of a sentence.

    Args:
        digest: SHA-256 of the draft's bytes that its author has seen.
        start: offset of the sentence in the draft's text; `end` one past its last.
        before: the text there; `after` the new one, with its citations.
    """

    digest: str
    start: int
    end: int
    before: str
    after: str


def replace_sentence(
    workspace: Workspace,
    path: Path,
    edit: SentenceEdit,
    *,
    by: str,
    at: datetime,
    notify: Notify = lambda sentence: None,
) -> str:
    """Write the new revision of a draft, note both texts in the version log, return its SHA-256.

    Args:
        path: of a draft in text; a Word file is edited in Word.

    Raises:
        ChangedMeanwhileError: the file is not what its author has seen; nothing was written.
        UsageError: the draft is no text file, or there is no new text.
        StorageError: the disk is full or refuses the write; the draft is as it was.
    """
    after = drop_controls(edit.after).strip()
    if not after or len(after) > LONGEST:
        raise UsageError(
            f"'after' must be text of at most {LONGEST} characters, got {len(after)}. To take a "
            "sentence out, use your editor."
        )
    if path.suffix.lower() not in TEXT_SUFFIXES:
        raise UsageError(
            f"{path.name}: only drafts in Markdown and plain text are edited here. Edit it in the "
            "program that it is of, and check it again."
        )
    with hold_lock(workspace.locks / "drafts.lock", "a draft", notify):
        data = path.read_bytes()
        if hash_bytes(data) != edit.digest:
            raise ChangedMeanwhileError(
                f"{path.name} was edited since this page was loaded. Nothing was written: look at "
                "the sentence as it is now, and edit it again."
            )
        new = _replaced(path, data, edit, after)
        rewrite_bytes(path.resolve(), new)
        log_revision(
            workspace, path, edit.before, after, (edit.digest, hash_bytes(new)), by, at, "sentence"
        )
    return hash_bytes(new)


def _replaced(path: Path, data: bytes, edit: SentenceEdit, after: str) -> bytes:
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    text = data.removeprefix(mark).decode("utf-8")
    # Places are those of the text without what acts on a terminal (`parse_draft`).
    if text[edit.start : edit.end] != edit.before:
        raise UsageError(
            f"{path.name}: the sentence does not stand where it was read; the file holds control "
            "characters. Take them out in your editor."
        )
    if "\r\n" in text:
        after = after.replace("\n", "\r\n")
    return mark + (text[: edit.start] + after + text[edit.end :]).encode("utf-8")


def log_revision(
    workspace: Workspace,
    path: Path,
    before: str,
    after: str,
    digests: tuple[str, str],
    by: str,
    at: datetime,
    field: str,
) -> None:
    """Note in the version log what was changed in a draft.

    Args:
        before: the words that were there; `after` those that are.
        digests: SHA-256 of the draft's bytes before and after.
        field: what was changed: `sentence`, `passage`.
    """
    log = workspace.meta / "version_log.jsonl"
    lock = workspace.locks / "outputs.lock"
    with hold_lock(lock, "the version log", lambda _: None), explained_errors(log):
        append_log(
            log,
            {
                "file": path.relative_to(workspace.root).as_posix(),
                "field": field,
                "from": before,
                "to": after,
                "sha256": dict(zip(("before", "after"), digests, strict=True)),
                "timestamp": at.astimezone().isoformat(timespec="seconds"),
                "reason": f"edited at the desk by {by}",
            },
        )
