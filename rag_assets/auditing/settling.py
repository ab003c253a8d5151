"""Which document an entry of a reference list means, where a person has said so."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from rag_assets.auditing.references import Entry, fold
from rag_assets.model import DamagedFileError
from rag_assets.storage import (
    Notify,
    append_journal_lines,
    hold_lock,
    mend_journal,
    read_journal_lines,
)
from rag_assets.workspace import Workspace

# Namespace and uid; None for a work that the library does not hold.
Document = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Settlement:
    """One line of the journal: which document a person says an entry means.

    Args:
        entry: its text, by which it is recognised in other drafts too, whatever its number there.
        namespace: of the document; None, as `doc_uid`, for a work that is not in the library.
        is_withdrawn: the decision before is taken back.
        by: who; `at` when, ISO 8601.
        draft: name of the file that was looked at.
    """

    entry: str
    namespace: str | None
    doc_uid: str | None
    by: str
    at: str
    draft: str
    is_withdrawn: bool = False


def entry_key(entry: Entry) -> str:
    """Return by what an entry is recognised: the letters and digits of its text."""
    return fold(entry.text)


def read_settlements(workspace: Workspace) -> Mapping[str, Document | None]:
    """Return the decisions that hold, by `entry_key`.

    Raises:
        DamagedFileError: a line of the journal is not what was written.
    """
    path = workspace.reference_journal
    found: dict[str, Document | None] = {}
    for number, line in enumerate(read_journal_lines(path), start=1):
        try:
            one = Settlement(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise DamagedFileError(
                f"{path}, line {number}: not a decision on a reference ({error}). Restore the "
                "file from a backup, or delete this line."
            ) from error
        key = fold(one.entry)
        if one.is_withdrawn:
            found.pop(key, None)
        elif one.namespace is not None and one.doc_uid is not None:
            found[key] = (one.namespace, one.doc_uid)
        else:
            found[key] = None
    return found


def append_settlement(
    workspace: Workspace, settlement: Settlement, notify: Notify = lambda sentence: None
) -> None:
    """Append a decision to the journal; it holds for every draft with the same entry."""
    path = workspace.reference_journal
    with hold_lock(workspace.locks / "references.lock", "decisions on references", notify):
        mend_journal(path)
        append_journal_lines(path, [json.dumps(asdict(settlement), ensure_ascii=False)])
