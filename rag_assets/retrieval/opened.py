"""A library that is asked many questions: each publication is opened once, while it is current."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rag_assets.model import PublicationError
from rag_assets.retrieval.reader import Reader
from rag_assets.storage import current_folder, is_complete, read_pointer
from rag_assets.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Publications:
    """The publications that one question, or one audit, sees from its first search to its last.

    Args:
        workspace: that published them.
        readers: by namespace.
        missing: namespaces that have no publication yet.
    """

    workspace: Workspace
    readers: Mapping[str, Reader]
    missing: tuple[str, ...] = ()

    @property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """The manifest of each publication by namespace."""
        return {name: reader.manifest for name, reader in self.readers.items()}

    @property
    def names(self) -> dict[str, str]:
        """The name of each publication by namespace."""
        return {name: reader.name for name, reader in self.readers.items()}


class OpenedLibrary:
    """The publications of a workspace, for as long as a program asks it.

        with OpenedLibrary(workspace) as library:
            ask(library, "How much cooler are green roofs?")
            ask(library, "And in winter?")

    Which publication is current is looked up at each question (`hold`). What is held stays open and
    whole until the question is answered, though another becomes current meanwhile; the next
    question opens that one and lets go of what nobody holds any more. Several threads may hold it.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._lock = threading.Lock()
        self._readers: dict[tuple[str, str], Reader] = {}
        self._holders: dict[tuple[str, str], int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all that nobody holds; another question opens it again."""
        with self._lock:
            self._let_go(keep=frozenset())

    @contextmanager
    def hold(
        self, namespaces: Sequence[str] = (), publications: Mapping[str, str] | None = None
    ) -> Iterator[Publications]:
        """Hold the publications that are current now; empty where there are none.

        Args:
            namespaces: names; without any, all of the workspace.
            publications: by namespace, which one to hold in place of the current one; then these
                namespaces are held and no others.

        Raises:
            UsageError: a namespace does not exist.
            PublicationError: a publication that was named is gone.
        """
        chosen = dict(publications or {})
        names = tuple(dict.fromkeys(chosen or namespaces or self.workspace.namespace_names))
        folders = {name: self._folder(name, chosen.get(name)) for name in names}
        keys = {name: (name, folder.name) for name, folder in folders.items() if folder}
        with self._lock:
            if not chosen:
                self._let_go(keep=frozenset(keys.values()), of=frozenset(names))
            for name, key in keys.items():
                if key not in self._readers:
                    self._readers[key] = Reader(folders[name] or Path(), name, key[1])
            for key in keys.values():
                self._holders[key] = self._holders.get(key, 0) + 1
            readers = {name: self._readers[key] for name, key in keys.items()}
        try:
            yield Publications(
                self.workspace, readers, tuple(name for name in names if name not in keys)
            )
        finally:
            with self._lock:
                for key in keys.values():
                    self._holders[key] -= 1

    def _let_go(
        self, *, keep: frozenset[tuple[str, str]], of: frozenset[str] | None = None
    ) -> None:
        """Close what nobody holds, of some namespaces or of all."""
        for key in list(self._readers):
            idle = not self._holders.get(key) and key not in keep
            if idle and (of is None or key[0] in of):
                self._readers.pop(key).close()
                self._holders.pop(key, None)

    def _folder(self, name: str, publication: str | None) -> Path | None:
        namespace = self.workspace.namespace(name)
        publications = namespace.publications
        if publication is None:
            namespace.fetch_publication()  # a desk that serves for days looks at each question
            if read_pointer(publications) is None:
                return None
            return current_folder(publications, name)
        if not is_complete(publications, publication):
            raise PublicationError(
                f"publication {name}/{publication} is not there: it was retired or its "
                "folder removed. Ask the current publication."
            )
        return publications / publication


Asked = Workspace | OpenedLibrary
"""What is asked: a workspace, opened for this one time, or a library that is open already."""


def workspace_of(asked: Asked) -> Workspace:
    """Return the workspace of what is asked."""
    return asked.workspace if isinstance(asked, OpenedLibrary) else asked


@contextmanager
def open_library(asked: Asked) -> Iterator[OpenedLibrary]:
    """Yield what is open already, or a workspace's library for the length of the block."""
    if isinstance(asked, OpenedLibrary):
        yield asked
        return
    with OpenedLibrary(asked) as library:
        yield library
