"""Vectors of texts, kept by hash in a folder so that the next run need not encode them again."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.embedding import EmbeddingModel, EncodeProgress, can_read
from rag_assets.model import Progress, hash_text
from rag_assets.storage import replace_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def name_progress(what: str, on_progress: Progress | None) -> EncodeProgress | None:
    """Return `on_progress` as the encoder calls it, told `what` is being encoded."""
    if on_progress is None:
        return None
    return lambda done, total: on_progress(what, done, total)


class VectorCache:
    """Encodes texts by one model, each once; what it cannot read gets zeros.

    Args:
        folder: where vectors stand between runs, one file a model; None keeps them in memory.
        model: loaded only when there is something to encode.
    """

    def __init__(self, folder: Path | None, model: EmbeddingModel) -> None:
        self._file = folder / f"vectors-{model.fingerprint[:16]}.npz" if folder else None
        self._model = model
        self._vectors: dict[str, NDArray[np.float32]] = {}
        if self._file is not None and self._file.is_file():
            self._read(self._file)

    def encode(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "NDArray[np.float32]":
        """Return one vector a text, shape (len(texts), dimension), of length 1 or all zeros."""
        import numpy as np

        keys = [hash_text(text) for text in texts]
        missing = {
            key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors
        }
        if missing:
            tokenizer = self._model.tokenizer()
            readable = {key: text for key, text in missing.items() if can_read(tokenizer, text)}
            self._vectors.update(
                (key, np.zeros(self._model.dimension, np.float32)) for key in missing
            )
            if readable:
                texts = list(readable.values())
                encoded = self._model.embedder().encode_passages(texts, on_progress)
                self._vectors.update(zip(readable, encoded, strict=True))
            self._write()
        held = [self._vectors[key] for key in keys]
        return np.stack(held) if held else np.zeros((0, self._model.dimension), np.float32)

    def _read(self, file: Path) -> None:
        import numpy as np

        with np.load(file, allow_pickle=False) as stored:
            self._vectors.update(zip(stored["keys"].tolist(), stored["vectors"], strict=True))

    def _write(self) -> None:
        import numpy as np

        if self._file is None:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(self._file) as path, path.open("wb") as out:
            np.savez(out, keys=np.array(list(self._vectors)), vectors=np.stack(
                list(self._vectors.values())))  # fmt: skip
