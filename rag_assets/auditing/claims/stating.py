"""Which sentences of a passage could support an assertion: not labels, titles and addresses."""

import re
from collections.abc import Iterable

from rag_assets.auditing.claims import chinese
from rag_assets.judging import is_fragment, is_negated

# “Figure 3.”, “Table 2: …”, 图 3, 表2-1.
_CAPTION = re.compile(
    r"^[\W_]*(?:(?:fig(?:ure|\.)?|table|tab\.|scheme|chart|plate|box|listing|photo)\s*"
    r"[A-Z]?\d+(?:[.\-]\d+)*[a-z]?(?=\W|$)|[图表]\s*\d+(?:[.\-–]\d+)*)\W*",
    re.IGNORECASE,
)
_MARKED_HEADING = re.compile(r"#{1,6}\s")
_CLOSED = re.compile(r"[.!?。！？；…][\"'”’」』)）\]*_]*\s*$")
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+")
_CELL = re.compile(r"[|\t]")
_ADDRESS = re.compile(
    r"\S@\w[\w-]*\.\w|^\W*(?:https?://|www\.)\S+\W*$|(?:大学|学院|研究[所院]|[省市区路]).*?\d{6}(?!\d)"
)
# “Planted roofs”: a participle, as likely as a verb where no full stop tells a sentence.
_PARTICIPLE = re.compile(r"(?i)\b[a-z]{2,}ed\b")
# Longer lines are no headings: items of lists, which may say much without a full stop.
_MOST_IN_A_HEADING = 15
_MOST_HAN_IN_A_HEADING = 30
# In titles and addresses all words but short ones begin with a capital.
_SHORT_WORD = 4


def spans_that_state(text: str, spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the sentences that a writer could cite; nothing where none is left.

    Left out are captions that only name what is shown, headings and titles that the structure of
    the document does not tell, and addresses: whatever words they share with an assertion, they
    say nothing of it.

    Args:
        text: of a passage; `spans` its sentences, half-open.
    """
    kept = []
    is_below_label = False
    for span in spans:
        sentence = text[slice(*span)].strip()
        if _MARKED_HEADING.match(sentence):
            continue
        label = _CAPTION.match(sentence)
        rest = sentence[label.end() :] if label else sentence
        is_bare = label is not None and not _WORD.search(rest)
        is_caption = is_below_label or (label is not None and _is_caption(label, rest))
        if not is_bare and _states(rest if is_caption else sentence, is_caption=is_caption):
            kept.append(span)
        is_below_label = is_bare
    return tuple(kept)


def _is_caption(label: re.Match[str], rest: str) -> bool:
    """Say whether what follows a label is a caption: “Table 2 lists …” and 表2列出了… are none."""
    if _HAN.match(rest):
        return not label.group()[-1].isalnum() or not _CLOSED.search(rest)
    return not rest[:1].islower()


def _states(sentence: str, *, is_caption: bool) -> bool:
    if _CELL.search(sentence):
        return True  # a row of a table: its figures are what it says
    if _HAN.search(sentence):
        return _states_in_chinese(sentence, is_caption=is_caption)
    words = _WORD.findall(sentence)
    is_closed = bool(_CLOSED.search(sentence)) and not is_caption
    if _has_verb(sentence if is_closed else _PARTICIPLE.sub(" ", sentence)):
        return True
    long = [word for word in words if len(word) >= _SHORT_WORD]
    is_named = len(long) > 1 and all(word[0].isupper() for word in long)
    if is_caption or is_named or _ADDRESS.search(sentence):
        return False
    if is_closed or len(words) > _MOST_IN_A_HEADING:
        return True
    # Few verbs in the present tense are known as such: “roofs reduce the load”, “45 % of them”.
    return any(character.isdigit() for character in sentence) or is_negated(sentence)


def _has_verb(sentence: str) -> bool:
    return not is_fragment(re.sub(r"\d", "", sentence))


def _states_in_chinese(sentence: str, *, is_caption: bool) -> bool:
    is_closed = bool(re.search(r"[。！？；]", sentence))
    if is_caption:
        return is_closed and bool(re.search(r"[，；]", sentence))
    if is_closed:
        return True
    if _ADDRESS.search(sentence):
        return False
    return (
        any(character.isdigit() for character in sentence)
        or "，" in sentence
        or len(_HAN.findall(sentence)) > _MOST_HAN_IN_A_HEADING
        or is_negated(sentence)
        or bool(chinese.CAUSAL.search(sentence))
    )
