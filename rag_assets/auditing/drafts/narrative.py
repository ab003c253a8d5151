"""Citations that are part of their sentence: “@lee2020 found that …”, “根据{#lee}，…”.

Without its anchor such a sentence has lost its subject. The cited work stands in its place, so that
what remains is a sentence, and a scorer can tell what it states from who says it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from rag_assets.auditing.drafts.marks import PLACEHOLDER
from rag_assets.judging.statement import NAMES, OTHERS, either, frames
from rag_assets.model import HAN_RANGES

_WORK = "the cited work"
_WORK_ZH = "该文献"
# An anchor that need not be a word of its sentence; by its form alone it cannot be told.
_OTHER = "\ue001"
_ANY = f"[{PLACEHOLDER}{_OTHER}]"
_PLACES = rf"{_ANY}(?:\s*(?:,|、|\band\b|&|\bor\b|和|与|及)?\s*{_ANY})*"
_LEAD = re.compile(r"\s*(?:while|whereas|although|though|where|if|虽然|尽管)?\s*", re.IGNORECASE)
_JOINT = re.compile(
    r"\s*(?:[,;:，；：]\s*(?:and|but|while|whereas|although|though|yet|而|但|并|且|而且)?"
    r"|\s(?:and|but|while|whereas|although|though|yet)|而|但)\s*$",
    re.IGNORECASE,
)


def mark_places(text: str, places: Sequence[int]) -> str:
    """Return a sentence with a placeholder at each of its citations.

    Args:
        text: a citation that is a word by its form has one already.
        places: of all citations, ascending; of those that have one, behind it.
    """
    for place in sorted(set(places), reverse=True):
        if text[:place][-1:] != PLACEHOLDER:
            count = places.count(place)
            text = text[:place] + _OTHER * count + text[place:]
    return text


def name_sources(marked: str) -> str:
    """Return a sentence with the cited work where a citation is its subject or follows “by”, “in”,
    “according to”; the placeholders of others are taken out.
    """
    subject, object_, subject_zh, object_zh = _patterns()
    text = object_zh.sub(rf"\g<1>{_WORK_ZH}", subject_zh.sub(rf"\g<1>{_WORK_ZH}", marked))
    text = object_.sub(rf"\g<1> {_WORK}", subject.sub(rf"\g<1>{_WORK}", text))
    text = re.sub(PLACEHOLDER, " ", text).replace(_OTHER, "")
    return text[0].upper() + text[1:] if text.startswith(_WORK) else text


def split_subjects(marked: str) -> list[str] | None:
    """Return for each citation the clause whose subject it is, in order; None where one is none,
    or the sentence has but one such clause.
    """
    subject, _, subject_zh, _ = _patterns()
    found = sorted(
        [(m.end(1), m.group()) for p in (subject, subject_zh) for m in p.finditer(marked)]
    )
    counts = [len(re.findall(_ANY, written)) for _, written in found]
    if len(found) < 2 or sum(counts) != len(re.findall(_ANY, marked)):
        return None
    if not _LEAD.fullmatch(marked[: found[0][0]]):
        return None
    starts = [start for start, _ in found]
    parts = [marked[a:b] for a, b in pairwise([*starts, len(marked)])]
    if any(not _JOINT.search(part) for part in parts[:-1]):
        return None
    clauses = [*(_JOINT.sub("", part) for part in parts[:-1]), parts[-1]]
    return [clause for clause, count in zip(clauses, counts, strict=True) for _ in range(count)]


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    words = frames()
    told = rf"(?:\s+(?:has|have|had|also|further|\w+ly))*\s+(?:{either(words.verbs_en)})\b"
    noun = rf"(?:\s+(?:{either(words.sources_en)}))?"
    verb = f"(?:{either(words.verbs_zh)})"
    # A name that stands before the anchor is the source's, unless it is no name.
    names = (
        r"(?!(?:As|According|In|While|Whereas|Although|Though|If|By|From|Following|The|This|That)\b)"
        rf"{NAMES}{OTHERS}?(?:['’]s?)?{noun}\s*"
    )
    edge = r"(?:^|(?<=[,;:])\s*|\b(?i:while|whereas|although|though|and|but|that)\s+)"
    return (
        re.compile(rf"((?={PLACEHOLDER})|{edge}(?={_OTHER})|{edge}(?={names}{_ANY}))"
                   rf"(?:{names})?{_PLACES}(?={told})"),
        re.compile(
            rf"\b((?i:according\s+to|as|by|in|of|from|following))\s*{_PLACES}"
            rf"(?=\s*[,.;]|\s+that\b|{told}|\s*$)"
        ),
        re.compile(
            rf"((?:^|[，。；]|而|但)\s*)(?:[{HAN_RANGES}·]{{2,4}}?等?人?)?{_PLACES}\s*"
            rf"(?=(?:已|也|还|均|则|曾)?{verb})"
        ),
        re.compile(rf"((?:根据|按照|正如|据))\s*{_PLACES}\s*"),
    )  # fmt: skip
