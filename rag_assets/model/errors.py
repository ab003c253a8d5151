"""What can go wrong, as a tree.

::

    RagError
    ├── UsageError (ValueError)              a question, draft or argument cannot be used as given
    │   ├── CitationError                    a cited uid is unknown, ambiguous or not citable
    │   ├── ChangedMeanwhileError            somebody else has changed what one was to write
    │   └── DraftMovedError                  somebody else has changed the draft meanwhile
    ├── ConfigurationError (ValueError)      a YAML file has a wrong key or value
    ├── WorkspaceError (FileNotFoundError)   no workspace, no namespace, no raw folder
    ├── StorageError (OSError)               a file cannot be read or written now
    │   ├── DiskFullError                    there is no room left
    │   ├── OutOfMemoryError (MemoryError)   there is not enough memory; no file is at fault
    │   ├── DamagedFileError                 a record, publication or journal was altered
    │   ├── LockedError                      another process holds the lock for too long
    │   └── RecordsMovedError                another run replaced a record while it was read
    ├── ServiceError (ConnectionError)       a service is down, refuses the key or answers nonsense
    ├── PublicationError (LookupError)       nothing is published, or the publication was retired
    ├── LanguageModelError (RuntimeError)    a language model cannot be asked or did not answer
    │   ├── AnswerError                      it answered what cannot be used; `answer` holds it
    │   ├── BudgetError                      a task has used up its tokens or seconds
    │   └── RecordingError                   a replay was asked what nobody has recorded
    └── ParseFailure (ValueError)            one document could not be parsed: reason code and mend
"""

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pydantic import ValidationError

FailureKind = Literal["deterministic", "resource"]


class RagError(Exception):
    """Base class of all package errors. The message says how to fix the problem."""


class UsageError(RagError, ValueError):
    """A question, draft or argument cannot be used as it was given."""


class CitationError(UsageError):
    """A draft cites a uid that is unknown, ambiguous or not citable."""


class ChangedMeanwhileError(UsageError):
    """Somebody has changed a thing since it was looked at; the text says what has changed."""


class DraftMovedError(UsageError):
    """Somebody has changed the draft of a document since it was looked at; nothing was written."""


class ConfigurationError(RagError, ValueError):
    """A configuration file has an unknown key or a value that its rule refuses."""


class WorkspaceError(RagError, FileNotFoundError):
    """There is no workspace, namespace or raw folder where one was expected."""


class StorageError(RagError, OSError):
    """The machine cannot read or write a file now. Nothing that was published is lost."""

    @property
    def problem(self) -> str:
        """What is wrong, without the advice, for a command that is that advice itself."""
        return str(self)


class DiskFullError(StorageError):
    """There is no room left: `DiskFullError(problem)`, to which the advice is added."""

    @property
    def problem(self) -> str:
        """What is wrong, without the advice to run `rag gc`."""
        return str(self.args[0])

    def __str__(self) -> str:
        """Say what is wrong and what to do."""
        return (
            f"{self.problem} Nothing published was lost; free some space (`rag gc` removes what "
            "nothing refers to) and run the command again."
        )


class OutOfMemoryError(StorageError, MemoryError):
    """There is not enough memory for what was asked; no file is at fault."""


class DamagedFileError(StorageError):
    """A record, publication or journal does not hold what was written to it."""


class LockedError(StorageError):
    """Another process has held a lock for longer than this one was willing to wait."""


class RecordsMovedError(StorageError):
    """A record was replaced by another run while its rows were read; read again."""


class ServiceError(RagError, ConnectionError):
    """A service elsewhere is down after all tries, refuses the key, or answers nonsense."""


class PublicationError(RagError, LookupError):
    """A namespace has no publication yet, or the one that was asked for has been retired."""


class LanguageModelError(RagError, RuntimeError):
    """A language model cannot be asked, or did not answer within what it was given."""


class AnswerError(LanguageModelError):
    """A language model answered what cannot be used.

    Args:
        message: what is wrong with it and what to do.
        answer: what came back.
    """

    def __init__(self, message: str, answer: str) -> None:
        super().__init__(message)
        self.answer = answer


class BudgetError(LanguageModelError):
    """A task has used up the tokens or the seconds that it was given."""


class RecordingError(LanguageModelError):
    """A replay was asked what nobody has recorded."""


class ParseFailure(RagError, ValueError):  # noqa: N818 - an outcome of a document, not a fault of ours
    """One document could not be parsed.

    Args:
        reason_code: short stable word, for instance `empty_file` (docs/reference.md lists them).
        message: one sentence that says what is wrong and what to do.
        kind: `deterministic` stays until the document or its settings change, `resource` is
            tried again.
    """

    def __init__(self, reason_code: str, message: str, kind: FailureKind = "deterministic") -> None:
        super().__init__(message)
        self.reason_code = reason_code
        self.message = message
        self.kind: FailureKind = kind


def first_fault(error: "ValidationError") -> tuple[str, str, Any]:
    """Return the first fault that pydantic found: the key with dots, what is wrong, the value."""
    first = error.errors(include_url=False)[0]
    return ".".join(map(str, first["loc"])), first["msg"], first["input"]
