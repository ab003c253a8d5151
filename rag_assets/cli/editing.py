"""`rag draft`: edit the chunks of a document, and publish what was edited."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import click

from rag_assets.chunking.editing import ChunkDraft, Conflict, DraftChunk, DraftEditor, find_document
from rag_assets.cli.building import run_stages
from rag_assets.cli.options import (
    RenamedGroup,
    by_option,
    json_option,
    namespace_option,
    open_namespaces,
    print_json,
    reason_option,
    who,
)
from rag_assets.model import UsageError, count_of
from rag_assets.workspace.stages import way_from

# Of a chunk in a list, characters that are shown.
_SHOWN = 72

_file = click.argument("document", metavar="FILE")
_revision = click.option(
    "--revision",
    type=click.IntRange(0),
    metavar="N",
    help="The revision shown by `rag draft show`; if the draft has changed since, nothing is done.",
)


@click.group(
    cls=RenamedGroup,
    renamed={
        "create": "`rag draft edit` begins a draft.",
        "discard": "Use `rag draft edit FILE discard`.",
    },
    help="Edit the chunks of a document, and publish what was edited. FILE is its uid or its file "
    "in raw/. Edits are kept in a journal and applied again when the file is edited, parsed or cut "
    "again. raw/ is never changed, and the printed text is always kept.",
)
def draft() -> None:
    """Group of the commands on drafts of chunks."""


@draft.command(
    help="Show FILE's chunks as the draft has them, or as they are published; edits that wait, "
    "with both texts; and with --history what was done, by whom and when."
)
@_file
@namespace_option
@click.option("--whole", is_flag=True, help="Print chunks whole instead of their beginning.")
@click.option("--history", "with_history", is_flag=True, help="List the events of the journal.")
@json_option
def show(
    document: str, names: tuple[str, ...], whole: bool, with_history: bool, as_json: bool
) -> None:
    """Print the draft."""
    editor = _open(document, names, None)
    shown = editor.draft()
    if as_json:
        print_json(_as_json(editor, shown))
        return
    state = "draft" if shown.is_open else "no draft; as published"
    click.echo(f"{shown.document_id}: {state}, revision {shown.revision}")
    for chunk in shown.chunks:
        for line in _lines(chunk, whole=whole):
            click.echo(line)
    for conflict in shown.conflicts:
        for line in _waiting(conflict):
            click.echo(line)
    for event in editor.history.events if with_history else ():
        what = event.operation.kind if event.operation else event.event
        of = f" {event.undoes}" if event.undoes else ""
        why = f" ({event.reason})" if event.reason else ""
        click.echo(f"{event.number:>4}  {event.at}  {event.by}  {what}{of}{why}")


@draft.command(
    help="Apply OPERATION to CHUNK, which is a key or number that `rag draft show` prints. "
    "OPERATION is edit_text (with --text or --text-file), split_at (with --offset), "
    "merge_with_next, move_before and move_after (with --other), reparent (with --parent), "
    "enable or disable. undo takes the number of an operation instead of CHUNK, by default the "
    "last one. discard deletes the draft; the publication stays as it is. The first operation "
    "creates the draft."
)
@_file
@click.argument(
    "operation",
    type=click.Choice(
        ["edit_text", "split_at", "merge_with_next", "move_before", "move_after", "reparent",
         "enable", "disable", "undo", "discard"]
    ),
)  # fmt: skip
@click.argument("chunk", required=False)
@namespace_option
@click.option("--text", help="The new text.")
@click.option(
    "--text-file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="PATH",
    help="A file with the new text, in UTF-8; - reads standard input.",
)
@click.option("--offset", type=int, metavar="N", help="Characters before the cut.")
@click.option("--other", metavar="CHUNK", help="The chunk to move it next to.")
@click.option("--parent", metavar="LABEL", help="The new parent, such as p003.")
@_revision
@by_option
@reason_option
@json_option
def edit(
    document: str,
    operation: str,
    chunk: str | None,
    names: tuple[str, ...],
    text: str | None,
    text_file: str | None,
    offset: int | None,
    other: str | None,
    parent: str | None,
    revision: int | None,
    by: str | None,
    reason: str,
    as_json: bool,
) -> None:
    """Append one operation."""
    editor = _open(document, names, by, revision)
    if operation == "discard":
        editor.discard(reason)
        _tell(editor, f"the draft of '{editor.doc_uid}' is discarded", as_json)
        return
    if not editor.draft().is_open and operation != "undo":
        editor.create(reason)
    if text_file is not None:
        with click.open_file(text_file, encoding="utf-8") as stream:
            text = stream.read()
    needed: dict[str, tuple[str, Any]] = {
        "edit_text": ("--text or --text-file", text),
        "split_at": ("--offset", offset),
        "move_before": ("--other", None if other is None else _name(other)),
        "move_after": ("--other", None if other is None else _name(other)),
        "reparent": ("--parent", parent),
    }
    if operation == "undo":
        if chunk is not None and not chunk.isdigit():
            raise UsageError(f"undo takes the number of an operation, got '{chunk}'.")
        editor.undo(None if chunk is None else int(chunk), reason=reason)
    elif chunk is None:
        raise UsageError(f"name the chunk: rag draft edit {document} {operation} CHUNK.")
    elif operation in needed:
        option, value = needed[operation]
        if value is None:
            raise UsageError(
                f"{operation} needs {option}; `rag draft edit --help` says what each one takes."
            )
        getattr(editor, operation)(_name(chunk), value, reason=reason)
    else:
        getattr(editor, operation)(_name(chunk), reason=reason)
    _tell(editor, f"{operation} is in the draft of '{editor.doc_uid}'", as_json)
    if not as_json:
        for changed in editor.draft().chunks:
            if editor.history.revision in changed.by:
                click.echo(next(_lines(changed, whole=False)))


@draft.command(
    help="Publish the draft of FILE: its edits hold from now on, and a new publication is built."
)
@_file
@namespace_option
@_revision
@by_option
@reason_option
@json_option
def publish(
    document: str,
    names: tuple[str, ...],
    revision: int | None,
    by: str | None,
    reason: str,
    as_json: bool,
) -> None:
    """Append that the draft is published, and build."""
    editor = _open(document, names, by, revision)
    editor.publish(reason)
    run_stages((editor.namespace.name,), way_from("chunk_edits"), as_json)


def _open(
    document: str, names: tuple[str, ...], by: str | None, revision: int | None = None
) -> DraftEditor:
    namespace, uid = find_document(open_namespaces(names), document)
    return DraftEditor(namespace, uid, by=who(by), revision=revision)


def _name(chunk: str) -> int | str:
    """Return a chunk's number, or its key; a key of digits alone is as long as every key."""
    return int(chunk) if chunk.isdigit() and len(chunk) < 8 else chunk


def _tell(editor: DraftEditor, what: str, as_json: bool) -> None:
    shown = editor.draft()
    if as_json:
        print_json(_as_json(editor, shown))
        return
    click.echo(f"{what}; revision {shown.revision}, {count_of(len(shown.chunks), 'chunk')}")
    if shown.conflicts:
        verb = "waits" if len(shown.conflicts) == 1 else "wait"
        click.echo(
            f"warning: {count_of(len(shown.conflicts), 'edit')} {verb}: `rag draft show "
            f"{shown.document_id}`",
            err=True,
        )


def _as_json(editor: DraftEditor, shown: ChunkDraft) -> dict[str, Any]:
    return {
        "namespace": editor.namespace.name,
        "document_id": shown.document_id,
        "revision": shown.revision,
        "is_open": shown.is_open,
        "chunks": [dataclasses.asdict(chunk) for chunk in shown.chunks],
        "conflicts": [dataclasses.asdict(conflict) for conflict in shown.conflicts],
        "history": [
            {
                "number": event.number,
                "event": event.operation.kind if event.operation else event.event,
                "undoes": event.undoes,
                "by": event.by,
                "at": event.at,
                "reason": event.reason,
            }
            for event in editor.history.events
        ],
    }


def _lines(chunk: DraftChunk, *, whole: bool) -> Iterator[str]:
    marks = [*(["edited"] if chunk.is_edited else []), *([] if chunk.is_enabled else ["disabled"])]
    marked = f" [{', '.join(marks)}]" if marks else ""
    head = f"{chunk.order:>4}  {chunk.key}  {chunk.parent_label}{marked}"
    if whole:
        yield head
        yield chunk.text
        if chunk.is_edited:
            yield f"      printed: {chunk.printed}"
    else:
        yield f"{head}  {' '.join(chunk.text.split())[:_SHOWN]}"


def _waiting(conflict: Conflict) -> Iterator[str]:
    yield f"waiting: operation {conflict.number}, {conflict.kind}: {conflict.reason}"
    yield f"    seen: {' '.join(conflict.seen.split())}"
    yield f"    now:  {' '.join(conflict.now.split()) or '(nothing like it)'}"
