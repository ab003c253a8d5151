"""A cheap guess of a document's language, for display and for the choice of rules."""

import re

# Enough to see the language of a document; more characters change no answer.
_SAMPLE_CHARACTERS = 20_000
# Running Chinese prose has over 90 % ideographs, English papers with Chinese names under 2 %.
_MIN_CJK_SHARE = 0.25
_MIN_KANA_SHARE = 0.05
# English prose has some 30 to 40 % of these words, reference lists some 10 %, other languages 3 %.
_MIN_STOP_WORD_SHARE = 0.12
_MIN_WORDS = 20

_IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_WORD = re.compile(r"[^\W\d_]+")
# fmt: off
_ENGLISH = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "for", "from",
    "has", "have", "in", "is", "it", "its", "may", "not", "of", "on", "or", "our", "such",
    "than", "that", "the", "their", "these", "they", "this", "to", "was", "we", "were",
    "which", "will", "with",
})
# fmt: on


def guess_language(text: str) -> str | None:
    """Return `zh`, `ja`, `en` or, where none of them is plain, None."""
    sample = text[:_SAMPLE_CHARACTERS]
    letters = sum(map(str.isalpha, sample))
    if letters == 0:
        return None
    kana = len(_KANA.findall(sample))
    if len(_IDEOGRAPH.findall(sample)) + kana >= _MIN_CJK_SHARE * letters:
        return "ja" if kana >= _MIN_KANA_SHARE * letters else "zh"
    words = _WORD.findall(sample.lower())
    if len(words) < _MIN_WORDS:
        return None
    english = sum(word in _ENGLISH for word in words)
    return "en" if english >= _MIN_STOP_WORD_SHARE * len(words) else None
