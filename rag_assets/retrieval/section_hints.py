"""Sections of a paper or thesis that a question's words ask for."""

import re
from collections.abc import Iterable

from rag_assets.model import SectionCategory

_METHOD, _OTHER = SectionCategory.METHOD, SectionCategory.OTHER
_EVALUATION, _CONCLUSION = SectionCategory.EVALUATION, SectionCategory.CONCLUSION
_ABSTRACT, _INTRODUCTION = SectionCategory.ABSTRACT, SectionCategory.INTRODUCTION
_RELATED = SectionCategory.RELATED_WORK

# Beginnings of English words, Chinese words, and where papers tell of such things; the first rule
# that fits is taken. Written before it was measured, and not fitted since.
_ENDINGS = (
    "limitation|future work|conclu|shortcoming",
    "局限|不足之处|展望|结论",
    (_CONCLUSION, _EVALUATION, _OTHER),
)
_EARLIER_WORK = (
    "related|previous work|prior work|existing (?:work|approach|method)",
    "前人|已有研究|已有方法|相关工作|相关研究|文献综述",
    (_RELATED, _INTRODUCTION, _EVALUATION),
)
_RESULT_WORDS = (
    "result|perform|accura|score|f1|bleu|rouge|metric|evaluat|baseline|compar|outperform|"
    "experiment|improve|state.of.the.art|significan|better"
)
_RESULTS = (
    _RESULT_WORDS,
    "结果|性能|准确率|精度|得分|指标|评价|评估|基线|对比|优于|实验|显著",
    (_EVALUATION, _METHOD, _CONCLUSION, _OTHER),
)
_DATA = (
    r"dataset|data set|corp(?:us|ora)|data\b|annotat|collect|languages?\b|size",
    "数据|语料|标注|采集|样本",
    (_METHOD, _EVALUATION, _OTHER),
)
_METHOD_WORDS = (
    "model|architecture|approach|method|algorithm|network|layer|train|feature|embedding|"
    "how do|how does|how is|how are"
)
_METHODS = (
    _METHOD_WORDS,
    "模型|架构|方法|算法|网络|训练|特征|如何|怎样|怎么",
    (_METHOD, _OTHER, _EVALUATION),
)
_AIMS = (
    "why|motivat|contribution|goal|aim",
    "为什么|为何|动机|贡献|目的|目标",
    (_ABSTRACT, _INTRODUCTION, _CONCLUSION),
)
_RULES = (_ENDINGS, _EARLIER_WORK, _RESULTS, _DATA, _METHODS, _AIMS)
_PATTERNS = tuple(
    (re.compile(rf"\b(?:{english})|{chinese}", re.IGNORECASE), sections)
    for english, chinese, sections in _RULES
)


def hinted_sections(question: str) -> tuple[SectionCategory, ...] | None:
    """Return the sections in which a question's answer is to be expected; None for all.

    Args:
        question: in English or Chinese; of other languages no word is known.
    """
    return next((sections for words, sections in _PATTERNS if words.search(question)), None)


def neighbouring_sections(categories: Iterable[int]) -> tuple[int, ...]:
    """Return sections with those that tell of the same when it is not told there.

    They are the sections that the hints above name together. Of a section that begins no hint
    there are none.
    """
    named = {int(sections[0]): sections for *_, sections in reversed(_RULES)}
    named[int(_INTRODUCTION)] = _AIMS[-1]
    found = dict.fromkeys(map(int, categories))
    for category in tuple(found):
        found |= dict.fromkeys(map(int, named.get(category, ())))
    return tuple(found)
