"""Ask the desk that serves a workspace, where one does: its models are warm.

Nothing of the web framework is imported here: a command waits for every import.
"""

import http.client
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rag_assets import model
from rag_assets.model import RagError, StorageError
from rag_assets.storage import read_json
from rag_assets.workspace import Workspace
from rag_assets.workspace.desk_address import DeskAddress, noted_desk

if TYPE_CHECKING:
    from rag_assets.answering import AnswerOutcome
    from rag_assets.evidence import AskOutcome

_CONNECT_SECONDS = 1.0
_ANSWER_SECONDS = 3600.0
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
        from rag_assets import __version__

        noted = noted_desk(workspace)
        if noted is None:
            return None
        client = cls(workspace, noted)
        try:
            said = client._request("GET", "/api/version", None, _CONNECT_SECONDS)
        except (OSError, http.client.HTTPException, RagError):
            # What it noted has died, or another program has its port: the command does it itself.
            return None
        return client if said == {"version": __version__} else None

    def query(self, notify: Callable[[str], None], **asked: Any) -> "AskOutcome":
        """Return the pack that `rag_assets.evidence.ask` makes there.

        Raises:
            RagError: what it raises.
        """
        from rag_assets.evidence import AskOutcome, pack_from_json

        stored = self._asked("/api/query", asked, notify)
        root = self._workspace.root
        path = root / stored["json_file"]
        return AskOutcome(
            pack_from_json(read_json(path, "evidence pack")), root / stored["markdown"], path,
            stored["is_new"], stored["key"], stored["seconds"],
            root / stored["html"] if stored["html"] else None, tuple(stored["told"]),
        )  # fmt: skip

    def ask(self, notify: Callable[[str], None], **asked: Any) -> "AnswerOutcome":
        """Return the answer that `rag_assets.answering.ask_papers` makes there.

        Raises:
            RagError: what it raises.
        """
        from rag_assets.answering import AnswerOutcome, answer_from_json

        stored = self._asked("/api/ask", asked, notify)
        root = self._workspace.root
        path = root / stored["json_file"]
        return AnswerOutcome(
            answer_from_json(read_json(path, "answer")), root / stored["markdown"], path,
            stored["is_new"], stored["seconds"],
        )  # fmt: skip

    def _asked(
        self, path: str, asked: Mapping[str, Any], notify: Callable[[str], None]
    ) -> dict[str, Any]:
        try:
            stored = self._request("POST", path, asked, _ANSWER_SECONDS)
        except (OSError, http.client.HTTPException) as error:
            raise StorageError(
                f"the desk at {self._address.url} did not answer ({error}): was it ended "
                "meanwhile? Ask again; without a desk the command does it itself."
            ) from error
        for sentence in stored["said"]:
            notify(sentence)
        return stored

    def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float
    ) -> dict[str, Any]:
        parts = urlsplit(self._address.url)
        line = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=seconds)
        headers = {"Authorization": f"Bearer {self._address.token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            line.request(
                method, path, None if body is None else json.dumps(body, default=str), headers
            )
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
