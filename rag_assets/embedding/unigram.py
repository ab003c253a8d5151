"""A SentencePiece unigram tokenizer in plain Python, for questions.

The one of the `tokenizers` library takes a second to take in 250,000 pieces; this one a tenth of
that. The best way to cut a word is found as Kudo, "Subword Regularization" (ACL 2018) §3.2 does,
by Viterbi; ties, unknown characters and runs of them are treated as that library treats them.
"""

import re
from collections.abc import Mapping, Sequence

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
        return self._walk_back(last, began)

    def _walk_back(self, last: Sequence[int], began: Sequence[int]) -> list[int]:
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
