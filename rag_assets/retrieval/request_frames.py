"""The request around a topic ("I am looking for papers about …"), which is not the topic.

Words of the request are rare in a library of papers, so BM25 takes them for the heart of the
question, and a model's vector leans towards them.
"""

import re

_NOUN = (
    r"(?:(?:research|journal|scientific|recent|relevant|basic|review|good) )?"
    r"(?:articles?|papers?|documents?|publications?|studies|literature|references?|descriptions?|"
    r"information|reports?|works?|materials?|sources?|passages?|texts?)"
)
_NOUNS = rf"{_NOUN}(?:,? (?:and|or) {_NOUN})?"
_ABOUT = (
    r"(?:on|about|regarding|concerning|of|(?:which |that )?(?:are |is )?(?:on|about|"
    r"deal(?:s|ing)? with|describ(?:es?|ing)|discuss(?:es|ing)?|contain(?:s|ing)?|"
    r"concern(?:s|ing)?|cover(?:s|ing)?|treat(?:s|ing)?|provid(?:es?|ing))|relat(?:ed|ing) to)"
)
_SOME = r"(?:(?:all|any|some|the|an?|more|many|a few|several) )*"
_SELF = r"(?:i|we)(?: am| are|['’]m|['’]re)?(?: also)?(?: particularly| especially| mainly)?"
_WISH = (
    rf"{_SELF} (?:interested in|looking for|searching for|seeking|in need of|want(?: to find)?|"
    r"need(?: to find)?)|(?:i|we)(?: would|['’]d) (?:like|love|prefer|rather)"
    r"(?: to)?(?: find| see| have| read| get)?|(?:also )?interested in"
)
_ORDER = (
    r"(?:(?:can|could|would|will) you )?(?:please )?(?:find|obtain|list|give|show|get|retrieve|"
    r"locate|search for|look for|look up|provide|collect|recommend|suggest)(?: me| us)?"
)
_MAIN = r"(?:main|essential|key|primary|central|major|principal|particular|special)"
_MATTERS = r"(?:issue|question|topic|interest|concern|point|aspect|subject|area|focus)(?:e?s)?"
_BE = r"(?:is|are|includes?|concerns?|would be|will be)(?: on| in)?"
_FOCUS = (
    rf"(?:the |my |our )?{_MAIN} {_MATTERS} {_BE}"
    rf"|(?:the |my |our )?{_MATTERS} of (?:{_MAIN} )?(?:interest|concern|importance) {_BE}"
    rf"|(?:also )?of (?:{_MAIN} )?(?:interest|concern|importance) {_BE}"
)
_RELATION = r"the (?:role|use) of"
_ENGLISH = re.compile(
    rf"(?:{_FOCUS}|{_RELATION}"
    rf"|(?:{_WISH}|{_ORDER}) {_SOME}{_NOUNS} {_ABOUT}"
    rf"|{_WISH}"
    rf"|(?:what|which) {_SOME}{_NOUNS} "
    rf"(?:(?:are there|is there|exists?|are available|do you have) )?{_ABOUT}"
    rf"|(?:are|is) there {_SOME}{_NOUNS} {_ABOUT}"
    rf"|{_NOUNS} {_ABOUT}) +",
    re.IGNORECASE,
)
_OF_INTEREST = re.compile(
    rf" (?:is|are|would be|will be) (?:also |likewise )?"
    rf"(?:of (?:{_MAIN} )?interest(?: to (?:me|us))?|examples? of (?:my|our) interests?)"
    r"(?=[.!?]*$)",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"(?:i|we)(?: am| are|['’]m|['’]re) not (?:interested in|looking for)\b"
    r"|(?:i|we) (?:do not|don['’]t) (?:want|need)\b",
    re.IGNORECASE,
)
_ASKING = (
    r"(?:(?:请|麻烦|能否|能不能|可以|帮忙|帮我|给我|我们?想要?|我们?要|我们?需要|想要?|需要)+)?"
)
_SEEKING = (
    r"(?:查找|查一下|查一查|查查|查询|找一下|找一找|找找|找出|寻找|找|检索|搜索|搜一下|"
    r"列出|推荐|提供|了解)"
)
_CHINESE_NOUN = r"(?:论文|文献|文章|资料|报告|材料|书籍|出版物)"
_CHINESE = (
    re.compile(
        rf"^{_ASKING}{_SEEKING}(?:所有|全部|一些|几篇|一下)?(?:有关|关于|涉及|讨论|研究)?"
        rf"(?P<topic>.+?)(?:方面|相关|有关)?的?(?:相关|有关)?{_CHINESE_NOUN}[。.!！?？]*$"
    ),
    re.compile(
        rf"^(?:{_ASKING}{_SEEKING}?)?(?:有|有没有|有哪些|哪些)?(?:有关|关于|讨论|涉及)"
        rf"(?P<topic>.+?)(?:方面|相关)?的{_CHINESE_NOUN}(?:有哪些|有吗)?[。.!！?？]*$"
    ),
)
_OPPOSED = re.compile(r",? as opposed to [^,.;:!?()]+,?", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=\S)")


def strip_request(question: str) -> str:
    """Return what a question is about, without the words that only ask for it.

    Frames at the beginnings of sentences are taken off ("The main issue is …", "The role of …"),
    and "… are also of interest" at their ends; what is not wanted is left out, as a sentence ("We
    are not interested in …") or within one (", as opposed to …"). A question that is nothing but
    a request stays as it is.

    Args:
        question: in English or Chinese; of other languages no frame is known.
    """
    for frame in _CHINESE:
        found = frame.match(question.strip())
        if found:
            return found["topic"]
    kept = [
        _OF_INTEREST.sub(
            "", sentence[match.end() :] if (match := _ENGLISH.match(sentence)) else sentence
        )
        for sentence in _SENTENCE.split(_OPPOSED.sub("", question))
        if not _UNWANTED.match(sentence)
    ]
    stripped = " ".join(filter(None, map(str.strip, kept)))
    return stripped or question
