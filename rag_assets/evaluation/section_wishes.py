"""Which sections of a paper a question's words ask for: a plain rule to measure filters with."""

import re

from rag_assets.model import SectionCategory

_METHOD, _OTHER = SectionCategory.METHOD, SectionCategory.OTHER
_EVALUATION, _CONCLUSION = SectionCategory.EVALUATION, SectionCategory.CONCLUSION
_ABSTRACT, _INTRODUCTION = SectionCategory.ABSTRACT, SectionCategory.INTRODUCTION
_RELATED = SectionCategory.RELATED_WORK

# Beginnings of words, and where papers tell of such things; the first rule that fits is taken.
# Written before it was measured, and not fitted since.
_ENDINGS = ("limitation|future work|conclu|shortcoming", (_CONCLUSION, _EVALUATION, _OTHER))
_EARLIER_WORK = (
    "related|previous work|prior work|existing (?:work|approach|method)",
    (_RELATED, _INTRODUCTION, _EVALUATION),
)
_RESULT_WORDS = (
    "result|perform|accura|score|f1|bleu|rouge|metric|evaluat|baseline|compar|outperform|"
    "experiment|improve|state.of.the.art|significan|better"
)
_RESULTS = (_RESULT_WORDS, (_EVALUATION, _METHOD, _CONCLUSION, _OTHER))
_DATA = (
    r"dataset|data set|corp(?:us|ora)|data\b|annotat|collect|languages?\b|size",
    (_METHOD, _EVALUATION, _OTHER),
)
_METHOD_WORDS = (
    "model|architecture|approach|method|algorithm|network|layer|train|feature|embedding|"
    "how do|how does|how is|how are"
)
_METHODS = (_METHOD_WORDS, (_METHOD, _OTHER, _EVALUATION))
_AIMS = ("why|motivat|contribution|goal|aim", (_ABSTRACT, _INTRODUCTION, _CONCLUSION))
_RULES = (_ENDINGS, _EARLIER_WORK, _RESULTS, _DATA, _METHODS, _AIMS)
_PATTERNS = tuple(
    (re.compile(rf"\b(?:{words})", re.IGNORECASE), sections) for words, sections in _RULES
)


def wished_sections(question: str) -> tuple[SectionCategory, ...] | None:
    """Return the sections in which a question's answer is looked for; None for all.

    Args:
        question: in English; of other languages no word is known, so they are not confined.
    """
    return next((sections for words, sections in _PATTERNS if words.search(question)), None)
