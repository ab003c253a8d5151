"""A passage put at the end of a draft, with its citation: a new revision of the file."""

import codecs
from datetime import datetime
from pathlib import Path

from rag_assets.model import UsageError, drop_controls, hash_bytes
from rag_assets.reviewing.editing import LONGEST, TEXT_SUFFIXES, log_revision
from rag_assets.storage import Notify, hold_lock, rewrite_bytes
from rag_assets.workspace import Workspace


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
        gap = "" if not text.strip() else end * (2 - min(2, _ends(text)))
        new = data + f"{gap}{added}{end}".encode()
        rewrite_bytes(path.resolve(), new)
        log_revision(
            workspace, path, "", added, (hash_bytes(data), hash_bytes(new)), by, at, "passage"
        )
    return added


def _ends(text: str) -> int:
    """Return how many line ends a text ends with."""
    tail = text[len(text.rstrip()) :]
    return tail.count("\n")
