"""What a publisher has said of a document since: retracted, of concern, corrected.

It stands where everybody reads it, at the beginning of the title, as publishers write it there:
`RETRACTED: Red lamps in small houses`. So every list, pack, answer and verdict shows it.
"""

import re
from typing import Literal

Standing = Literal["retracted", "concern", "corrected"]

_MARKS: dict[Standing, str] = {
    "retracted": "RETRACTED",
    "concern": "EXPRESSION OF CONCERN",
    "corrected": "CORRECTED",
}
# A mark is set apart from the words of a title: “Retracted articles in surgery” is about some.
_OF = r"\s*(?:(?:to|for|of)\s*)?[:：]|\s*(?:to|for|of)\s*[\"“‘']|\s*[\]】)）]"
_APART = rf"(?:{_OF}|\s+[-–—]\s|\s*$)"
_TITLES: dict[Standing, re.Pattern[str]] = {
    "retracted": re.compile(
        rf"[\W_]*(?:retracted(?:\s+(?:article|paper|chapter))?{_APART}"
        rf"|(?:partial\s+)?retraction(?:{_OF}|\s*$|(?:\s+(?:note|notice|statement))(?:\W|$))"
        rf"|notice of retraction\b"
        rf"|(?:withdrawn|withdrawal)(?:\s+(?:article|paper|notice))?(?:{_OF}|$)"
        r"|(?:已\s*)?(?:撤稿|撤回)(?:声明|通知|启事|公告|论文|文章)?(?:\W|$|关于|：))",
        re.IGNORECASE,
    ),
    "concern": re.compile(
        r"[\W_]*(?:(?:editorial\s+|editor'?s?\s+)?expression of concern(?:\W|$)|(?:编辑)?关注声明"
        r"|(?:编辑)?关切声明)",
        re.IGNORECASE,
    ),
    "corrected": re.compile(
        rf"[\W_]*(?:erratum(?:\W|$)|errata{_APART}|corrigend(?:um|a)(?:\W|$)|corrected{_OF}"
        rf"|(?:author|publisher)?(?:'s)?\s*correction(?:{_OF}|$|\s+to:)|勘误|更正(?:声明|启事|[:：]))",
        re.IGNORECASE,
    ),
}
_NOTES: dict[Standing, str] = {
    "retracted": "The source is marked as retracted: it is no support for anything but its own "
    "retraction.",
    "concern": "The publisher of the source has voiced concern about it: read the notice first.",
    "corrected": "The source is marked as corrected, or is a correction: check which text holds.",
}


def standing_of_title(title: str | None) -> Standing | None:
    """Return what the beginning of a title says of its document; None where it says nothing."""
    for standing, pattern in _TITLES.items():
        if title and pattern.match(title):
            return standing
    return None


def with_standing(title: str, standing: Standing | None) -> str:
    """Return a title that begins with the mark of `standing`, or with none for None.

    One that says so already stays as it is.
    """
    said = standing_of_title(title)
    if said == standing:
        return title
    if standing is not None:
        return f"{_MARKS[standing]}: {title}" if title else _MARKS[standing]
    mark = _TITLES[said].match(title) if said else None
    return (title[mark.end() :].strip(" :：") if mark else "") or title


def describe_standing(title: str | None) -> str | None:
    """Return the sentence that a reader of a source with this title needs; None without one."""
    standing = standing_of_title(title)
    return None if standing is None else _NOTES[standing]
