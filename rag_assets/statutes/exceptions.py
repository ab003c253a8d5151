"""What an article excepts: 但书, 除外, 另有规定. Who leaves it out says more than the law does."""

import re

from rag_assets.chunking import split_sentences

EXCEPTION = re.compile(
    r"(?<!不)但(?!凡|愿|书)|除外|(?<![拆解免排清删消扣废撤])除[^。；，]{1,40}外|"
    r"另有(?:规定|约定)|不在此限|不适用|例外|"
    r"不受[^。；，]{1,20}限制|\b(?:except|unless|does not apply|do not apply)\b",
    re.IGNORECASE,
)
"""Words by which a Chinese or an English provision excepts something.

Of 50 sentences with one, drawn from the 1,108 articles that have one among 17,306 of a vault, 44
except or limit something; the others join two facts (风力没有达到五级但是超过抗风浪等级).
"""
_BEGINS = re.compile(r"但|除|However|Except|Unless")


def excepts(text: str) -> bool:
    """Say whether a text excepts something."""
    return EXCEPTION.search(text) is not None


def exceptions_around(article: str, start: int, end: int) -> str | None:
    """Return the exception that belongs to the words at [start, end) of an article, else None.

    It stands in the same sentence, or in the next one where that begins with 但 or 除.
    """
    spans = list(split_sentences(article))
    touched = [place for place, (first, last) in enumerate(spans) if first < end and start < last]
    told = [article[slice(*spans[place])] for place in touched]
    if touched and touched[-1] + 1 < len(spans):
        following = article[slice(*spans[touched[-1] + 1])]
        if _BEGINS.match(following):
            told.append(following)
    return next((_clause(one) for one in told if excepts(one)), None)


def exception_end(text: str, end: int) -> int:
    """Return where the exception ends that follows the words before `end`, `end` without one."""
    following = next((span for span in split_sentences(text) if span[0] >= end), None)
    return following[1] if following and _BEGINS.match(text[slice(*following)].lstrip()) else end


def exceptions_of(article: str) -> tuple[str, ...]:
    """Return the sentences of an article that except something, in order."""
    sentences = (article[start:end] for start, end in split_sentences(article))
    return tuple(" ".join(one.split()) for one in sentences if excepts(one))


def _clause(sentence: str) -> str:
    """Return a sentence from the part on that excepts; all of it where it begins so."""
    found = EXCEPTION.search(sentence)
    start = 0 if found is None else max(sentence.rfind(m, 0, found.start()) + 1 for m in "，；,;")
    return " ".join(sentence[start:].split())
