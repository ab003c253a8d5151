"""Whether what was changed in a quotation, or left out of it, changes what it says."""

import re
from collections.abc import Sequence

from rag_assets.auditing.segments import REPLACED_LETTERS
from rag_assets.judging import read_numerals, read_quantities

# What stands for a denial in other words (非常, 未来, 无论, 不断) is none.
NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|hardly|scarcely|barely|rarely|seldom|nobody|"
    r"nothing|nowhere|cannot|fail(?:s|ed|ing)?\s+to)\b|n['’]t\b"
    r"|不(?![断但仅])|[没沒勿毋]|[未](?!来)|[无無](?!论|線|线)|非(?![常洲])|莫(?!斯)|禁止|严禁|拒绝",
    re.IGNORECASE,
)
# What a rule does not hold for, or alone holds for.
EXCEPTION = re.compile(
    r"\b(?:except(?:ing)?|unless|excluding|exclusive\s+of|save\s+(?:for|where|when|in|as|that)|"
    r"other\s+than|apart\s+from|aside\s+from|with\s+the\s+(?:\w+\s+)?exceptions?\s+of|but\s+not|"
    r"only\s+(?:if|when|where|in|for|after|under|among|with)|provided\s+that|subject\s+to)\b"
    r"|除(?![此了])[^。；\n]{0,80}?外|除外|除非|除了[^。；\n]{0,80}?(?:以外|之外)|例外|另有规定",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(
    r"(?<![A-Z])[.!?][\"”’)\]]*\s+(?=[A-Z\u00c0-\u00de“\"(\[])|[。！？][”’」』）]*|\n\s*\n"
)
_REST = re.compile(r"(?:[^.!?。！？\n]|\n(?!\s*\n)|[.!?](?!\s)){0,600}")
_CLAUSE_END = re.compile(r"[;:，；：—–]|,(?!\d)")
_AMOUNT = re.compile(r"\b(?:all|some|most|few|many|twice|double|triple)\b", re.IGNORECASE)
_HAN_NUMERAL = re.compile("[〇零一二两三四五六七八九十百千万亿]+")
# What is no numeral by itself, but is a number or part of one beside other words.
_PART_OF_NUMERAL = re.compile(
    rf"\d|{_HAN_NUMERAL.pattern}|\b(?:one|dozen|hundred|thousand|million|billion|trillion|half|"
    r"third|quarter)s?\b",
    re.IGNORECASE,
)
# Words that differ by nothing else say the opposite.
_DENYING = re.compile(r"(?:un|in|im|il|ir|dis|non|a|mis)-?", re.IGNORECASE)


def changes_meaning(quotation: str, source: str, changes: Sequence[tuple[str, str]]) -> bool:
    """Say whether a number, an amount, a negation or an exception is among the changes.

    Args:
        quotation: as the draft has it; `source` as it is printed.
        changes: (words of the draft, words of the source) that differ.
    """
    sides = [f"{before} {after}" for before, after in changes]
    return (
        any(pattern.search(side) for side in sides for pattern in (NEGATION, EXCEPTION, _AMOUNT))
        or any(_denies(a, b) or _denies(b, a) for a, b in changes)
        or (any(map(_has_number, sides)) and _values(quotation) != _values(source))
        or any(_HAN_NUMERAL.fullmatch(a) and _HAN_NUMERAL.fullmatch(b) for a, b in changes)
    )


def find_denial(left_out: str, following: str, inside: str) -> str | None:
    """Return the part of an omission that denies or narrows what is quoted around it.

    Sentences that are left out as a whole speak for themselves. Of a long omission its ends count,
    as far as their clauses go: “did [not, as we shall see,] fall”; and every exception.

    Args:
        left_out: what is printed between two parts of a quotation; `following` the text behind.
        inside: what the writer put in its place; a denial in it is quoted in other words.
    """
    ends = [
        match.span()
        for match in _SENTENCE_END.finditer(left_out + following[:1])
        if match.start() < len(left_out)
    ]
    parts = [left_out] if not ends else [left_out[: ends[0][0]], left_out[ends[-1][1] :]]
    denies = not NEGATION.search(inside)
    for number, part in enumerate(parts):
        exception = find_exception(part)
        if exception is not None and not EXCEPTION.search(inside):
            return exception
        if not denies:
            continue
        if not ends and len(_one_line(part)) <= REPLACED_LETTERS:
            if NEGATION.search(part):
                return _one_line(part)
            continue
        clauses = _CLAUSE_END.split(part)
        edges = [clauses[0][:REPLACED_LETTERS]] if number == 0 else []
        edges += [clauses[-1][-REPLACED_LETTERS:]] if part is parts[-1] else []
        for edge in edges:
            if NEGATION.search(edge):
                return _one_line(edge)
    return None


def find_exception(text: str) -> str | None:
    """Return the clause of a text that makes an exception, None where none does."""
    found = EXCEPTION.search(text)
    if found is None:
        return None
    starts = [match.end() for match in _CLAUSE_END.finditer(text, 0, found.start())]
    end = _CLAUSE_END.search(text, found.end())
    return _one_line(text[max(starts, default=0) : end.start() if end else len(text)])


def rest_of_sentence(text: str) -> str:
    """Return a text as far as its first sentence goes."""
    match = _REST.match(text)
    return match.group() if match else ""


def _one_line(text: str) -> str:
    return " ".join(text.split()).strip(" ,;:.，；：。")


def _has_number(side: str) -> bool:
    return _PART_OF_NUMERAL.search(side) is not None or bool(read_numerals(side))


def _values(text: str) -> list[tuple[float, str]]:
    return sorted((q.value, q.unit.kind) for q in read_quantities(text))


def _denies(word: str, other: str) -> bool:
    prefix = word[: len(word) - len(other)]
    return bool(other) and word.endswith(other) and _DENYING.fullmatch(prefix) is not None
