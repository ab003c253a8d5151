"""Vectors of texts in one SQLite file: kept from run to run, shared by evaluations and processes.

A workspace's own records are the first cache; this one outlives a workspace, so that the same
passage in another evaluation set, or cut by the same rule in another library, is not encoded
again.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.embedding import Embedder, EmbeddingModel, EncodeProgress, load_embedder
from rag_assets.model import DamagedFileError, StorageError, hash_fields

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Encoded between two writes: what an interrupted run loses at most.
_SLICE = 512
# Keys asked for at once; SQLite's limit of variables is far above.
_KEYS_AT_ONCE = 500
_SECONDS = 60.0  # that one process waits for another's write

_OF_THE_MACHINE = frozenset(
    {
        sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM,
    }
)  # fmt: skip

PASSAGE, QUESTION = "passage", "question"

Encode = Callable[[Sequence[str], EncodeProgress | None], "NDArray[np.float32]"]


@dataclass(frozen=True, slots=True)
class VectorStore:
    """Vectors by model, role and text.

    Args:
        file: of the store; made when it is not there.
    """

    file: Path

    def encode(
        self,
        model_fingerprint: str,
        role: str,
        texts: Sequence[str],
        encode: Encode,
        on_progress: EncodeProgress | None = None,
    ) -> "NDArray[np.float32]":
        """Return one vector a text, shape (len(texts), dimension); only missing ones are encoded.

        Args:
            model_fingerprint: vectors of another model are never used.
            role: `PASSAGE` or `QUESTION`: many models encode the two differently.
            texts: as given to the model, before its own prompt.
            encode: encodes passages or questions; called only with what is missing.
        """
        import numpy as np

        keys = [hash_fields(model_fingerprint, role, text) for text in texts]
        found = self._read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        waiting = list(missing)
        for start in range(0, len(waiting), _SLICE):
            part = waiting[start : start + _SLICE]
            fresh = encode(
                [missing[key] for key in part], _shifted(on_progress, start, len(waiting))
            )
            vectors = dict(zip(part, np.asarray(fresh, np.float32), strict=True))
            self._write(vectors)
            found.update(vectors)
        if not keys:
            return np.zeros((0, 0), np.float32)
        return np.stack([found[key] for key in keys])

    def _read(self, keys: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        import numpy as np

        found: dict[str, NDArray[np.float32]] = {}
        if not self.file.is_file():
            return found
        wanted = sorted(set(keys))
        with self._open() as connection:
            for start in range(0, len(wanted), _KEYS_AT_ONCE):
                part = wanted[start : start + _KEYS_AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = connection.execute(
                    f"SELECT key, vector FROM vectors WHERE key IN ({marks})",
                    part,
                )
                found.update((key, np.frombuffer(value, np.float32)) for key, value in rows)
        return found

    def _write(self, vectors: "Mapping[str, NDArray[np.float32]]") -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        rows = [(key, vector.tobytes()) for key, vector in vectors.items()]
        with self._open() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.file, timeout=_SECONDS)) as connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS vectors "
                    "(key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
                )
                yield connection
        except sqlite3.DatabaseError as error:
            # The low byte is the kind; `database is locked` or a full disk is not damage.
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _OF_THE_MACHINE:
                raise StorageError(
                    f"{self.file}: cannot be read or written now ({error}). Let other runs end, "
                    "look at its folder's rights and the disk's free space, and run it again."
                ) from error
            raise DamagedFileError(
                f"{self.file}: cannot be used as a store of vectors ({error}). It only saves "
                "time: delete it, its vectors are then encoded again."
            ) from error


@dataclass(frozen=True, slots=True)
class StoredModel(EmbeddingModel):
    """A model that asks a store before it encodes, and is loaded only for what is missing.

    Args:
        store: where vectors are looked up and kept.
    """

    store: VectorStore

    def embedder(self) -> Embedder:
        """Return the model behind its store; nothing of it is loaded yet."""
        return _StoredEmbedder(
            self.name,
            self.fingerprint,
            self.dimension,
            lambda: load_embedder(self.settings),
            self.store,
        )


@dataclass(frozen=True, slots=True)
class _StoredEmbedder:
    name: str
    fingerprint: str
    dimension: int
    load: Callable[[], Embedder]
    store: VectorStore

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "NDArray[np.float32]":
        return self.store.encode(
            self.fingerprint,
            PASSAGE,
            texts,
            lambda missing, told: self.load().encode_passages(missing, told),
            on_progress,
        )

    def encode_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self.store.encode(
            self.fingerprint,
            QUESTION,
            texts,
            lambda missing, _: self.load().encode_queries(missing),
        )


def _shifted(on_progress: EncodeProgress | None, before: int, total: int) -> EncodeProgress | None:
    if on_progress is None:
        return None
    return lambda done, _: on_progress(before + done, total)
