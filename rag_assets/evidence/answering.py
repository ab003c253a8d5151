"""Which sentences can answer a question: words it shares, the number it asks for, no furniture."""

import re

from rag_assets.evidence.wording import content_stems

# What only asks; "many roofs" is no answer to "how many roofs".
_ASKING = re.compile(
    r"\bhow\s+(?:many|much|often|long|far|old|come)\b|"
    r"\b(?:what|which)\s+(?:kinds?|types?|sorts?)\s+of\b|"
    r"\b(?:please|tell|explain|describe)\b",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(
    r"\bhow\s+(?:many|much|often|long|far|old|high|large|big|fast|deep|wide)\b|\bwhen\b|"
    r"\b(?:what|which)\s+(?:is\s+the\s+|was\s+the\s+)?(?:percentages?|share|proportion|number|year)\b|"
    r"多少|百分之几|几[个年次条种倍天月项]|多[大高长久远]|何时|哪一?年|什么时候",
    re.IGNORECASE,
)
# Marks of references are no numbers of the sentence.
_MARK = re.compile(r"\[[\d,;\s–-]+\]|[（(](?:[^()（）]*,\s*)?(?:19|20)\d\d[a-z]?[）)]")
_NUMBER = re.compile(
    r"\d|[一二三四五六七八九十百千万亿两半][个年月日次条种倍度天元人项成小]|百分之|"
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|"
    r"fifty|hundred|thousand|million|billion|half|third|quarter|once|twice|none|double)\b",
    re.IGNORECASE,
)
# Notices of copyright and licence, and what publishers print on each page. By whole formulas: a
# law on copyright, or a paper on licences, is made of the words alone.
_NOTICE = re.compile(
    r"©|\bcopyright\s+(?:\(c\)|(?:19|20)\d\d|is\s+held|held\s+by)|\(c\)\s*(?:19|20)\d\d|"
    r"\ball\s+rights\s+reserved\b|\bpermission\s+to\s+(?:make|copy|reproduce|reprint)\b|"
    r"\bto\s+copy\s+otherwise\b|\b(?:licensed|distributed|published|available)\s+under\s+"
    r"(?:the\s+terms\s+of\s+)?(?:an?\s+|the\s+)?(?:creative\s+commons|CC[\s-]BY|MIT|Apache)|"
    r"\bopen[\s-]access\s+article\b|\bcreative\s+commons\s+attribution\b|\bCC[\s-]BY\b|"
    r"^\W*downloaded\s+from\b|\bpersonal\s+(?:or\s+classroom\s+)?use\s+is\s+granted\b|"
    r"^\W*(?:doi|issn|isbn)\b\W*\d|版权所有|翻印必究|保留所有权利|未经\S{0,8}许可\S{0,8}(?:转载|复制|翻印)",
    re.IGNORECASE,
)
_ASKS_NOTICE = re.compile(r"copyright|licen[cs]e|rights|permission|版权|许可|著作权", re.IGNORECASE)


def is_notice(sentence: str) -> bool:
    """Say whether a sentence is a notice of copyright or licence, or a publisher's line."""
    return _NOTICE.search(sentence) is not None


class Asked:
    """What a question asks for, to be compared with sentences.

    Args:
        question: as it was typed.
    """

    def __init__(self, question: str) -> None:
        self._stems = content_stems(_ASKING.sub(" ", question))
        self._asks_number = _ASKS_NUMBER.search(question) is not None
        self.asks_notice = _ASKS_NOTICE.search(question) is not None

    def fit(self, sentence: str) -> tuple[int, int]:
        """Return how well a sentence answers: words in common, one more for a number that is asked
        for; of equals the sentence with the number is better.
        """
        numbers = self._asks_number and _NUMBER.search(_MARK.sub(" ", sentence)) is not None
        return len(self._stems & content_stems(sentence)) + numbers, int(numbers)
