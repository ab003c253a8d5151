"""Ask the desk that serves a workspace, where one does: its models are warm.

Nothing of the web framework is imported here: a command waits for every import.
"""

import http.client
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets import model
from rag_assets.model import RagError, StorageError
from rag_assets.storage import read_json
from rag_assets.workspace import Workspace
from rag_assets.workspace.desk_address import DeskAddress, noted_desk

if TYPE_CHECKING:
    from rag_assets.answering import AnswerOutcome
    from rag_assets.evidence import AskOutcome

_ANSWER_SECONDS = 3600.0
# A partition of questions; it becomes the name of a file.
_KEY = re.compile(r"[\w-]{1,200}")
_OK = 200


class DeskClient:
    """A desk that answers, of this version of the package.

    `OF_PACKS` are the fields of a question that it takes.
    """

    OF_PACKS = ("question", "namespaces", "filters", "top_k", "mode", "as_of", "all_versions")

    def __init__(self, workspace: Workspace, address: DeskAddress) -> None:
        self._workspace = workspace
        self._address = address

    @classmethod
    def find(cls, workspace: Workspace) -> "DeskClient | None":
        """Return the desk that serves a workspace now; None where none does.

        None too where it is of another version: it would answer as that one does.
        """
        noted = noted_desk(workspace)
        line = noted.connect() if noted is not None else None
        if noted is None or line is None:
            return None  # the command does it itself
        line.close()
        return cls(workspace, noted)

    def query(self, notify: Callable[[str], None], **asked: Any) -> "AskOutcome":
        """Return the pack that `rag_assets.evidence.ask` makes there.

        Raises:
            RagError: what it raises.
        """
        from rag_assets.evidence import AskOutcome, pack_from_json

        stored = self._asked("/api/query", asked, notify)
        path, key = self._made(stored["json_file"]), str(stored["key"])
        if not _KEY.fullmatch(key):
            raise self._foreign(key)
        return AskOutcome(
            pack_from_json(read_json(path, "evidence pack")), self._made(stored["markdown"]), path,
            bool(stored["is_new"]), key, float(stored["seconds"]),
            self._made(stored["html"]) if stored["html"] else None, tuple(map(str, stored["told"])),
        )  # fmt: skip

    def ask(self, notify: Callable[[str], None], **asked: Any) -> "AnswerOutcome":
        """Return the answer that `rag_assets.answering.ask_papers` makes there.

        Raises:
            RagError: what it raises.
        """
        from rag_assets.answering import AnswerOutcome, answer_from_json

        stored = self._asked("/api/ask", asked, notify)
        path = self._made(stored["json_file"])
        return AnswerOutcome(
            answer_from_json(read_json(path, "answer")), self._made(stored["markdown"]), path,
            bool(stored["is_new"]), float(stored["seconds"]),
        )  # fmt: skip

    def _made(self, name: Any) -> Path:
        """Return the file of the workspace's outputs that an answer names.

        Raises:
            StorageError: it names another.
        """
        path = self._workspace.root / str(name)
        if not path.resolve().is_relative_to(self._workspace.outputs.resolve()):
            raise self._foreign(name)
        return path

    def _foreign(self, name: Any) -> StorageError:
        return StorageError(
            f"the desk at {self._address.url} named {str(name)[:80]!r}, which is not an output of "
            "this workspace. End that desk (Ctrl-C) and ask again."
        )

    def _asked(
        self, path: str, asked: Mapping[str, Any], notify: Callable[[str], None]
    ) -> dict[str, Any]:
        try:
            stored = self._request(path, asked)
        except (OSError, http.client.HTTPException) as error:
            raise StorageError(
                f"the desk at {self._address.url} did not answer ({error}): was it ended "
                "meanwhile? Ask again; without a desk the command does it itself."
            ) from error
        for sentence in stored["said"]:
            notify(str(sentence))
        return stored

    def _request(self, path: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        line = self._address.connect()
        if line is None:
            raise http.client.NotConnected("another program has its port")
        assert line.sock is not None  # noqa: S101 - the desk keeps the connection
        line.sock.settimeout(_ANSWER_SECONDS)
        headers = {
            "Authorization": f"Bearer {self._address.token}", "Content-Type": "application/json",
        }  # fmt: skip
        try:
            line.request("POST", path, json.dumps(asked, default=str), headers)
            answer = line.getresponse()
            said: dict[str, Any] = json.loads(answer.read() or b"{}")
        except ValueError as error:
            raise http.client.HTTPException(f"no JSON came back: {error}") from error
        finally:
            line.close()
        if answer.status != _OK:
            kind = getattr(model, str(said.get("kind") or ""), None)
            told = str(said.get("error") or said)
            raise (
                kind(told)
                if isinstance(kind, type) and issubclass(kind, RagError)
                else RagError(told)
            )
        return said
