"""What chunking asks of a tokenizer. The embedding room has the implementations."""

from collections.abc import Callable, Sequence
from typing import Protocol

TokenCounter = Callable[[Sequence[str]], list[int]]
"""Counts the tokens of each text, without special tokens: `Tokenizer.count`."""


class Tokenizer(Protocol):
    """Counts as the embedding model does."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides a count. Enters the chunks' fingerprint."""

    @property
    def limit(self) -> int:
        """Tokens of content that fit the model beside its special tokens and its prompt."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens, never truncated."""

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the code-point span of each token of `text`, in order."""
