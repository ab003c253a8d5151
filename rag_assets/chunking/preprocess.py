"""Rules that change what is embedded and indexed, never what is shown (spec 001, Cleaner)."""

import re
from collections.abc import Callable, Sequence

from rag_assets.model import FIGURE
from rag_assets.settings import PreprocessRule

PREPROCESS_VERSION = "1"

_CITATION = re.compile(r"[ \t]?\[\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,40}\]")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_URL = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:https?|ftp)://|www\.(?=[\w-]+\.))"
    r"[^\s<>\"'，。；！？、）】》」』]+(?<![.,;:!?)\]])",
    re.IGNORECASE,
)
_LINE_SPACE = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r" ?\n(?:\s*\n)* ?")


def _white_space(text: str) -> str:
    """One blank between words, one line end between lines."""
    return _BLANK_LINES.sub("\n", _LINE_SPACE.sub(" ", text)).strip()


def _removing(pattern: re.Pattern[str]) -> Callable[[str], str]:
    return lambda text: pattern.sub("", text)


_RULES: dict[PreprocessRule, Callable[[str], str]] = {
    "attachments": _removing(FIGURE),
    "citation_marks": _removing(_CITATION),
    "emails": _removing(_EMAIL),
    "urls": _removing(_URL),
    "white_space": _white_space,
}


def preprocess(text: str, rules: Sequence[PreprocessRule]) -> str:
    """Return `text` after the rules, always in the same order, whatever order they are named in.

    A text of which they would leave nothing visible is returned as it is: a chunk that is
    nothing but an address is still found by it.

    Args:
        text: any text.
        rules: names; `attachments` removes references to images, `citation_marks` numbers in
            brackets, `emails` and `urls` addresses, `white_space` all but one blank or line end.
    """
    cleaned = text
    for name, rule in _RULES.items():
        if name in rules:
            cleaned = rule(cleaned)
    return cleaned if cleaned == text or cleaned.strip() else text
