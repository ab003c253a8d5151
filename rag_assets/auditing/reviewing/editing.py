"""A draft in text edited at the desk: one sentence replaced, or a passage put at its end."""

import codecs
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rag_assets.auditing.draft import draft_bytes
from rag_assets.model import ChangedMeanwhileError, UsageError, drop_controls, hash_bytes
from rag_assets.storage import Notify, append_log, explained_errors, hold_lock, rewrite_bytes
from rag_assets.workspace import Workspace

# One sentence of a draft replaced: a new revision of its file, whole or not at all.

# Characters; what is longer is no sentence.
LONGEST = 20_000
TEXT_SUFFIXES = (".md", ".markdown", ".txt")


@dataclass(frozen=True, slots=True)
class SentenceEdit:
    """What is to stand instead of a sentence.

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
        if hash_bytes(draft_bytes(path)) != edit.digest:
            raise ChangedMeanwhileError(
                f"{path.name} was edited since this page was loaded. Nothing was written: look at "
                "the sentence as it is now, and edit it again."
            )
        new = _replaced(path, data, edit, after)
        _write_revision(workspace, path, (data, new), "sentence", edit.before, after, by, at)
        return hash_bytes(draft_bytes(path))


def _replaced(path: Path, data: bytes, edit: SentenceEdit, after: str) -> bytes:
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    text = data.removeprefix(mark).decode("utf-8")
    # Places are those of the text without what acts on a terminal (`parse_draft`).
    if text[edit.start : edit.end] != edit.before:
        raise UsageError(
            f"{path.name}: the sentence is not where it was read; the file holds control "
            "characters. Take them out in your editor."
        )
    if "\r\n" in text:
        after = after.replace("\n", "\r\n")
    return mark + (text[: edit.start] + after + text[edit.end :]).encode("utf-8")


def _write_revision(
    workspace: Workspace,
    path: Path,
    contents: tuple[bytes, bytes],
    field: str,
    before: str,
    after: str,
    by: str,
    at: datetime,
) -> None:
    """Write a draft and note in the version log what was changed.

    Args:
        contents: the draft's bytes before and after.
        before: the words that were there; `after` those that are.
    """
    rewrite_bytes(path.resolve(), contents[1])
    log, lock = workspace.meta / "version_log.jsonl", workspace.locks / "outputs.lock"
    entry = {
        "file": path.relative_to(workspace.root).as_posix(), "field": field,
        "from": before, "to": after,
        "sha256": dict(zip(("before", "after"), map(hash_bytes, contents), strict=True)),
        "timestamp": at.astimezone().isoformat(timespec="seconds"),
        "reason": f"edited at the desk by {by}",
    }  # fmt: skip
    with hold_lock(lock, "the version log", lambda _: None), explained_errors(log):
        append_log(log, entry)


# A passage put at the end of a draft, with its citation: a new revision of the file.


def add_passage(
    workspace: Workspace,
    path: Path,
    quote: str,
    cited: str,
    *,
    by: str,
    at: datetime,
    notify: Notify = lambda sentence: None,
) -> str:
    """Append a quotation with its citation to a draft as a paragraph, return what was written.

    Args:
        path: of a draft in text; it is moved within it by its author.
        quote: verbatim from the source.
        cited: as drafts cite it: `{#uid}`, or `[law > chapter > article]`.

    Raises:
        UsageError: the draft is no text file, or there is nothing to quote or to cite.
        StorageError: the disk is full or refuses the write; the draft is as it was.
    """
    words, mark = " ".join(drop_controls(quote).split()), " ".join(drop_controls(cited).split())
    if not words or not mark or len(words) + len(mark) > LONGEST:
        raise UsageError(f"a quotation and its citation have 1 to {LONGEST} characters.")
    if path.suffix.lower() not in TEXT_SUFFIXES:
        raise UsageError(
            f"{path.name}: passages are added to drafts in Markdown and plain text. Copy it into "
            "the program that the draft is of."
        )
    added = f"“{words}” {mark}"
    with hold_lock(workspace.locks / "drafts.lock", "a draft", notify):
        data = path.read_bytes()
        try:
            text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"{path.name} is not UTF-8: save it as that first.") from error
        end = "\r\n" if "\r\n" in text else "\n"
        # An empty line before it, none more than that.
        gap = "" if not text.strip() else end * (2 - min(2, text[len(text.rstrip()) :].count("\n")))
        new = data + f"{gap}{added}{end}".encode()
        _write_revision(workspace, path, (data, new), "passage", "", added, by, at)
    return added
