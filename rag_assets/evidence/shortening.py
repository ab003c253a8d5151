"""Where a sentence that is too long to be quoted is cut: behind a clause, never in mid-thought.

What is cut off never limits what is kept: where it excepts, conditions or denies anything, the
sentence is quoted whole.
"""

import re

from rag_assets.evidence.locating import first_words

# What ends a clause. A colon only announces one, and a Chinese enumeration goes on behind its mark,
# so that these two are cut at only where nothing else is there.
_CLAUSE_END = re.compile(r"[，；](?=.)|[,;](?=\s)", re.DOTALL)
_WEAK_END = re.compile(r"[：、](?=.)|:(?=\s)", re.DOTALL)
# Words that take something back, or hold it only in some case.
_LIMITS = re.compile(
    r"但|除|不|未|非|无|没有|否|勿|若|如|倘|仅|只|例外|另有|前提|条件|限于|然而|却|反而|尚|虽|尽管|"
    r"\b(?:but|unless|except\w*|excluding|provid(?:ed|ing)|if|only|no|not|none|nor|neither|never|"
    r"cannot|without|however|although|though|while|whereas|yet|until|rather|instead|lack\w*|"
    r"fail\w*|contrary|despite|whether|when|where|unlikely|hardly|other than|subject to)\b|"
    r"n[’']t\b",
    re.IGNORECASE,
)
_MARKS = " \t\r\n，；：、,;:"
# Words that lead to what was cut off: alone between two marks …
_LEADING = (
    r"但是?|然而|不过|可是|只是|却|而且?|并且?|同时|此外|另外|以及|因此|所以|因而|从而|于是|故|即|"
    r"其中|例如|比如|包括|如果|假如|虽然|尽管|由于|因为|不仅|不但|或者?|和|与|及|当|若|"
    r"so|yet|however|therefore|thus|hence|moreover|furthermore|nevertheless|instead|namely|"
    r"for example|for instance|e\.g\.?|i\.e\.?|that is|in addition|in contrast|which|who|whose|"
    r"where|when|while|whereas|that|because|since|although|though|if|unless|than"
)
_DANGLING = re.compile(rf"[，；：、,;:]\s*(?:{_LEADING})$|(?<!\w)(?:and|or|but|nor)$")
# … or, where no clause ends, the last ones that fit.
_BROKEN_OFF = re.compile(
    rf"{_DANGLING.pattern}|(?<!\w)(?:{_LEADING}|the|an?|of|in|to|for|with|by|at|on|from|into|between|"
    r"as|is|are|was|were|not|no)$"
)


def shorten(sentence: str, limit: int) -> str:
    """Return a sentence, or its beginning of at most `limit` words where it has more.

    It ends with a clause where one ends in the second half of what is kept, and neither with the
    mark that divides it from what was cut off nor with a conjunction. Where what would be cut off
    limits the rest, the sentence is returned whole.
    """
    kept = _cut(sentence, limit)
    return sentence if _LIMITS.search(sentence, len(kept)) else kept


def _cut(sentence: str, limit: int) -> str:
    kept = first_words(sentence, limit)
    if len(kept) == len(sentence):
        return kept
    for end in (_CLAUSE_END, _WEAK_END):
        # The mark may be the first character that is cut off.
        for match in reversed([*end.finditer(sentence[: len(kept) + 2])]):
            if len(kept) / 2 <= match.start() <= len(kept):
                clause = _trimmed(kept[: match.start()], _DANGLING)
                if len(clause) >= len(kept) / 2:
                    return clause
    return _trimmed(kept, _BROKEN_OFF)


def _trimmed(text: str, leading: re.Pattern[str]) -> str:
    """Return `text` without what leads on at its end; whole where nothing else would be left."""
    trimmed = text.rstrip(_MARKS)
    while match := leading.search(trimmed):
        trimmed = trimmed[: match.start()].rstrip(_MARKS)
    return trimmed if any(map(str.isalnum, trimmed)) else text
