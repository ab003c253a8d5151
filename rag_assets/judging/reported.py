"""What a source tells as the belief of somebody, and a claim as a fact.

“It is often claimed that cold weather causes colds. There is no evidence for this.”
"""

import re
from collections.abc import Sequence

from rag_assets.judging.contract import Judgement, PassageText, Sign
from rag_assets.judging.statement import authors_of

_BELIEVED = re.compile(
    r"(?i)\bit (?:is|was|has been|had been) (?:\w+ )?"
    r"(?:claimed|believed|assumed|thought|alleged|supposed|argued|rumou?red|feared|hoped) that\b"
    r"|\b(?:myth|misconception|allegation|rumou?r|belief|superstition|assumption|claim|fear|"
    r"claims?|claimed|believed?|believes|alleged?|alleges|assumed?|assumes|supposed?|supposes|"
    r"insists?|insisted|pretend(?:s|ed)?) that\b"
    r"|\b(?:we|they|authors) (?:had )?(?:expected|predicted|hypothesi[sz]ed|anticipated)\b"
    r"|\baccording to (?:the |its |their |some )?(?:manufacturers?|makers?|producers?|suppliers?|"
    r"vendors?|sellers?|compan(?:y|ies)|critics|proponents|opponents|supporters|advocates|legends?|"
    r"rumou?rs?)\b"
    r"|据(?:厂家|厂商|商家|卖方)|(?:人们|有人|不少人|民间|坊间|世人)[^，。；]{0,6}(?:认为|以为|相信)"
    r"|据(?:称|说|传)|传说|误以为|谣传|声称"
)
# Whoever argues it, what follows takes it back.
_ARGUED = re.compile(r"(?i)\b(?:argue[sd]?|suggest(?:s|ed)?|maintain(?:s|ed)?|holds?|held|"
                     r"propose[sd]?|sa(?:ys|id)) that\b|认为|主张")  # fmt: skip
_TAKEN_BACK = re.compile(
    r"(?i)\b(?:no such|no evidence|no support|not (?:true|the case|supported|confirmed|hold)|"
    r"not support\w*|unfounded|unsupported|contradict\w*|refut\w*|disprov\w*|mistaken|untenable)\b"
    r"|并非如此|(?:未|不|没有)[^，。；]{0,4}支持|没有证据|缺乏证据|不成立|站不住脚|被证伪"
)
_SAYING = re.compile(
    r"(?i)\b(?:accord\w+ to|claim\w*|believ\w+|assum\w+|alleg\w+|argu\w+|suppos\w+|suggest\w*|"
    r"expect\w*|predict\w*|hypothes\w*|anticipat\w*|maintain\w*|said|says?|thought|opinion|"
    r"views?|insist\w*|rumou?r\w*|myth|misconception)\b"
    r"|认为|以为|相信|据称|据说|传说|声称|主张|看法|观点"
)
# Of what is said behind the passage, how far it is read.
_BEHIND = 200


def find_reported(sentence: str, passages: Sequence[PassageText], judged: Judgement) -> Sign | None:
    """Return that the sentence which a judgement points to only reports what somebody believes.

    Args:
        sentence: as the draft has it; one that says who says it reports it, too.
    """
    if _SAYING.search(sentence) or authors_of(sentence):
        return None
    text = passages[judged.passage].text
    start, end = judged.span
    told = text[start:end]
    believed = _BELIEVED.search(told)
    if believed is None:
        argued = _ARGUED.search(told)
        if argued is None or not _TAKEN_BACK.search(text, start + argued.end(), end + _BEHIND):
            return None
        believed = argued
    shown = believed.group()
    return Sign("words", "", shown, f"The source tells it as a belief (“{shown}”), not as a fact.")
