"""Lines that a publisher prints about a work: who may copy it, where it lies, when it came.

They share words with questions (a year, a journal, “open access”) and state nothing of what the
work found, so they are no evidence.
"""

import re

from rag_assets.model import HAN_RANGES

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = (
    rf"(?:\d{{1,2}}\s+{_MONTH},?\s+\d{{4}}|{_MONTH}\s+\d{{1,2}},?\s+\d{{4}}|"
    r"\d{4}[-/.]\d\d?[-/.]\d\d?)"
)
# What a sentence of the work's own does not begin with.
_BEGINS = re.compile(
    rf"\W*(?:issn\b|isbn\b|downloaded from|(?:corresponding authors?|correspondence)\b|e-?mail\b|"
    rf"(?:first )?(?:received|revised|accepted|published|submitted|posted|available)(?: online| in "
    rf"(?:original|revised|final) form)*\s*[:;]?\s*(?:on\s+)?{_DATE}|"
    r"received\b[^.]{0,60}accepted|"
    r"(?:first )?(?:published|printed) by\b.{0,60}$|"
    r"(?:preprint|manuscript)\s+(?:submitted|typeset)\b|"
    r"(?:submitted|accepted)\s+(?:to|by|at)\s+(?:the\s+)?"
    r"(?:\d|[A-Z]).{0,80}\b(?:conference|journal|proceedings|workshop|symposium)\b|"
    r"under review (?:by|at|for|as)\b|(?:appear(?:ing|s)|to appear)\s+in\b.{0,40}proceedings|"
    r"(?:in\s+)?proceedings of the\b.{0,160}(?:\bpages?\b|\bpp\b|(?:19|20)\d\d\W*$|,\s*$)|"
    r"how to cite\b|cite this (?:article|paper|work)|citation\s*:|"
    r"(?:(?:academic|handling|associate|guest|section)\s+)?editors?\s*:|"
    r"(?:edited|reviewed|communicated|handled) by\b.{0,80}$|specialty section|"
    r"prepublication history|to view (?:these files|a copy of this licen[cs]e)|"
    r"see rights and permissions|"
    r"pages?\s+\d+\s*[-–]\s*\d+\b|licen[cs]e\W*$|©|c\u20dd|\(c\)\s*(?:19|20)\d\d|"
    r"copyright\s*(?:©|\(c\)|(?:19|20)\d\d|is\s+held|held\s+by|$)|all rights reserved|"
    r"收稿日期|修[回改订]日期|录用日期|基金项目|作者简介|通[讯信]作者|中图分类号|文献标[识志]码|文章编号|"
    r"引用格式|版权所有|网络首发)",
    re.IGNORECASE,
)
# What stands in one wherever it stands.
_HOLDS = re.compile(
    r"creative commons|\bCC[ -]BY\b|attribution licen[cs]e|\d\.\d international licen[cs]e|"
    r"\bopen[ -]access article\b|permission to make digital|unrestricted use, distribution|"
    r"original work is properly (?:cited|credited)|(?:freely|publicly) available online under\b|"
    r"remains neutral with regard to jurisdictional|licensed under CC\b|"
    r"(?:©|\(c\)|c\u20dd)\s*(?:19|20)\d\d|©\s*(?:the )?authors?|\ball rights reserved\W*$|"
    r"reproduced (?:with|by) permission|\borcid\.org/",
    re.IGNORECASE,
)
# By the words that a line may have beside its addresses to be one: a journal, a name, an institute;
# where data lie in the web is told in a few words more.
_ADDRESSES = (
    (
        re.compile(
            r"(?:\bdoi\b[\s:]*|\barxiv:\s?)\S+(?:\s(?=[\w/.-]*[/.]\w)\S+)?|\b10\.\d{4,9}/\S+|"
            r"[\w.+,|{}\[\]-]{0,80}\s?@[\w-]+(?:\.[\w-]+)+",
            re.IGNORECASE,
        ),
        8,
    ),
    (re.compile(r"(?<![A-Za-z])(?:https?://\s?|www\.)\S+(?:\s[\w-]+[/.]\S*)?", re.IGNORECASE), 3),
)
_WORD = re.compile(rf"[^\W\d_]{{2,}}|[{HAN_RANGES}]")
# Whose address ends with that of an author.
_AFFILIATION = re.compile(
    r"\b(?:universit|institut|laborator|departa?ment|faculty|school of|hospital|college|academy|"
    r"lab\b|research cent)",
    re.IGNORECASE,
)
_MAIL = re.compile(r"@[\w-]+(?:\.[\w-]+)+")


def is_imprint(sentence: str) -> bool:
    """Say whether a sentence is a line of licence, copyright, address, date or citation."""
    line = " ".join(sentence.split())
    if _BEGINS.match(line) or _HOLDS.search(line):
        return True
    if _MAIL.search(line) and _AFFILIATION.search(line):
        return True
    return any(
        address.search(line) and len(_WORD.findall(address.sub(" ", line))) <= most
        for address, most in _ADDRESSES
    )
