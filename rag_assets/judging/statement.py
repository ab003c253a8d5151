"""What a sentence states, without who says it."""

import re
from functools import lru_cache

from rag_assets.judging.words import Frames, is_negated, lexicon
from rag_assets.law import ENGLISH_ADDRESS, LAW_NOUNS, NUMBER
from rag_assets.model import HAN, HAN_RANGES, count_han

# Where a sentence says which law it is from: “Under Article 17 of the GDPR, …”.

_LAW = r"《[^》]{2,60}》(?:\s*[(（][^()（）]{1,30}[)）])?"
_ADDRESS = (
    rf"(?:第\s?{NUMBER}\s?[编章节条](?:之{NUMBER})?)"
    rf"(?:第\s?{NUMBER}\s?款)?(?:第?[(（]?{NUMBER}[)）]?项)?"
)
_SAYS = "(?:明确|进一步|还|也|则|均|亦)*(?:规定|要求)(?![的了于在])"

_NOUN = "|".join(sorted(f"{noun.capitalize()}|{noun.upper()}" for noun in LAW_NOUNS))
_BEFORE_NOUN = r"(?:[A-Z][\w'’&.-]*|of|and|the|on|for|to|in|\(\w{1,12}\)|\d+/\d+)"
# “on the Rights of the Child”
_GOES_ON = r"(?:\s+(?:on|of|for)(?:\s+(?:the|of|and|[A-Z][\w'’-]*)){1,10})?"
_VERSION = (
    r"(?:,?\s+(?:of\s+)?(?:1[6-9]|20)\d\d\b(?!/))?(?:\s*\([A-Z]{1,4}\))?"
    r"(?:\s+(?:No\.?\s+)?\d+/\d+)?(?:\s*\([^()]{1,40}\))?(?:['’]s)?"
)
_NAMED = rf"(?:{_BEFORE_NOUN}\s+){{0,12}}?(?:{_NOUN})\b{_GOES_ON}"
_ENGLISH_LAW = rf"(?:[Tt]he\s+)?(?:{_NAMED}|[A-Z]{{3,8}}\b){_VERSION}"
# With an article: “in the Act” may say where something happens.
_PLACE = (
    rf"(?:{ENGLISH_ADDRESS}(?:,?\s+(?:(?:of|in)\s+)?{_ENGLISH_LAW})?"
    rf"|{_ENGLISH_LAW},?\s+(?:in\s+)?{ENGLISH_ADDRESS})"
)
_BY = (
    r"(?i:under|pursuant\s+to|according\s+to|in\s+accordance\s+with|by\s+virtue\s+of|per|in|"
    r"as\s+(?:laid\s+down|provided|stated|set\s+out|required|prescribed)\s+(?:in|by))"
)
_TELLS = (
    r"(?:also\s+|further\s+|expressly\s+|explicitly\s+)?(?:provides?|states?|requires?|stipulates?|"
    r"says?|prescribes?|specif(?:y|ies)|lays?\s+down|establish(?:es)?|mandates?)"
)

# What a sentence begins with.
LAWS_THAT_SAY = (
    re.compile(
        rf"(?:根据|依照|依据|按照|按|依|据)?(?:我国|现行)?"
        rf"(?:(?:{_LAW}|该文献|[该本]法)(?:的)?(?:{_ADDRESS})?|{_ADDRESS})"
        rf"(?:{_SAYS}[，,：:]?|(?:的)?(?:相关|有关)?(?:规定)?[，,：:])\s*"
    ),
    re.compile(rf"{_BY}\s+{_PLACE}\s*,\s*"),
    re.compile(rf"{_PLACE},?\s+{_TELLS}\s+that\s+"),
)
# What stands in parentheses anywhere.
LAWS_IN_PARENTHESES = (
    re.compile(rf"[(（](?:参?见|详见)?\s*(?:{_LAW})?\s*(?:{_ADDRESS})?[)）]"),
    re.compile(rf"\s*\((?:(?:see|cf\.?)\s+)?{_PLACE}\)"),
)


# What a sentence states, without who says it: “Lee et al. (2019) found that …”, “However, …”.
#
# A thesis names its sources in its sentences. That a study found something stands in no study, nor
# does its year of publication: held against the source, both would speak against a true sentence.
# Names without a year are left where they are, since “the ministry said” is part of what is
# claimed.

_YEAR = r"(?:1[89]|20)\d\d[a-z]?"
_NAME = (
    r"(?:(?:[A-Z]\.[\s-]?){0,3}(?:(?:van|von|de|der|den|di|da|la|le|el|al|bin)\s+){0,3}"
    r"[A-Z][\w'’-]+)"
)
NAMES = rf"{_NAME}(?:\s*(?:,\s*(?:and\s+|&\s*)?|\s(?:and|&)\s+){_NAME}){{0,6}}"
OTHERS = r"(?:,?\s+et\s+al\b\.?|,?\s+and\s+(?:others|colleagues|co-?workers)\b)"
_PAGES = r"(?:\s*[,:]\s*(?:pp?\.?\s*)?\d+(?:\s*[-–]\s*\d+)?)?"
_YEARS = rf"{_YEAR}(?:\s*[,;]\s*{_YEAR})*{_PAGES}"
# In a sentence a name with a year in parentheses is a work, and so are people “et al.”.
_REFERENCE = (
    rf"(?:{NAMES}{OTHERS}?(?:['’]s?)?,?\s*[(（]\s*{_YEARS}\s*[)）]|{NAMES}{OTHERS}(?:['’]s?)?)"
)
# What stands for an anchor in a sentence (`rag_assets.auditing.drafts.narrative`).
_CITED = rf"(?:{_REFERENCE}|the cited work)"
# “Lee et al. (2019) introduce a model …”: the work itself says “we”.
_SUBJECT = re.compile(
    rf"(?:[Tt]he cited work|{_REFERENCE})"
    r"(?:\s+(?:has|have|had|also|first|further|then|[a-z]+ly)\b)*\s+"
    r"(?!(?:and|or|as|in|by|for|with|is|are|was|were|been)\b)(?=[a-z]{3,})"
)
# (March 2020) is a date, and (ICRC 2016) may be an event.
_NO_AUTHOR = (
    r"(?!(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Spring|Summer|Autumn|Fall|Winter|[A-Z]{2,})\b)"
)
_WORK = rf"{_NO_AUTHOR}{NAMES}{OTHERS}?,?\s*{_YEARS}"
_IN_PARENTHESES = re.compile(
    rf"\s*[(（]\s*(?:see\s+|cf\.?\s+|e\.g\.,?\s+|for example,?\s+)*"
    rf"{_WORK}(?:\s*[;,]\s*(?:and\s+)?{_WORK})*\s*[)）]"
)
# From 1, as references are counted: [0, 1] is an interval.
_NUMBER = r"[1-9]\d{0,2}"
# “[?]” is printed for a key that is not found; the others stand where a reference was or will be.
_PLACEHOLDER = r"\?|(?i:cit|cite|citation|citation needed|ref|refs?\.?)|来源请求"
_IN_BRACKETS = re.compile(
    rf"\s*\[{_NUMBER}(?:\s*[,;–-]\s*{_NUMBER})*\]"
    rf"|\s*\((?:\s*\[(?:{_PLACEHOLDER})\]\s*[,;]?)+\)|\s*\[(?:{_PLACEHOLDER})\]"
)
_HAN_NAME = rf"[{HAN_RANGES}A-Za-z·.\s]{{1,24}}?"
_HAN_WORK = rf"{_HAN_NAME}(?:等人?)?\s*[(（]\s*{_YEARS}\s*[)）]"
_HAN_REFERENCE = rf"(?:[{HAN_RANGES}·]{{2,8}}(?:等人?)?|[A-Z][A-Za-z·]+等人?)\s*[,，]\s*{_YEARS}"
_HAN_REFERENCES = re.compile(
    rf"[(（]\s*(?:[参详]?见)?{_HAN_REFERENCE}(?:\s*[;；]\s*{_HAN_REFERENCE})*\s*[)）]"
)
_FEWEST_WORDS = 3
_FEWEST_HAN = 4
_MOST_LAYERS = 3
# “Few studies show that …”: what is said of the finding turns it round.
_TURNED = re.compile(r"\b(?:few|little|hardly|scarcely|rarely|seldom|less|fewer)\b|很少|鲜有|少有")
_WORD = re.compile(r"[^\W\d_]+")
_SMALL = re.compile(r"[a-z]+\b")


# “(see Section 2.3 and Table 2)”: places of the draft, or of the work itself.
_PART = (
    r"(?:tables?|figures?|figs?\.|sections?|sec\.|chapters?|appendix|appendices|eq\.|equations?)"
)
_PARTS = re.compile(
    rf"\s*[(（]\s*(?i:(?:see|cf\.?|e\.g\.,?|also)\s+)*(?i:{_PART})\s*[\w.]{{1,6}}"
    rf"(?:\s*(?:,|and|&|to|–|-)\s*(?:(?i:{_PART})\s*)?[\w.]{{1,6}})*\s*[)）]"
    r"|\s*[(（]\s*(?:参?见|如)?\s*[图表第]\s*[\d一二三四五六七八九十.\-]{1,6}\s*[章节]?(?:所示)?\s*[)）]"
)
_REFERENCES = (_PARTS, _IN_PARENTHESES, _HAN_REFERENCES, *LAWS_IN_PARENTHESES, _IN_BRACKETS)


@lru_cache(maxsize=20_000)
def state(claim: str) -> str:
    """Return what a sentence states: without references, frames and connectives at its beginning.

    Where too little would be left, or the frame itself denies, the sentence stays as it is.
    """
    stated = _without_frames(claim)
    if stated == claim or not _is_enough(stated):
        return claim
    stated = stated.strip(" ,，")
    # Of mRNA and pH the case counts.
    return stated[0].upper() + stated[1:] if _SMALL.match(stated) else stated


def _without_frames(sentence: str) -> str:
    stated = sentence
    for references in _REFERENCES:
        stated = references.sub("", stated)
    patterns = _patterns()
    for _ in range(_MOST_LAYERS):
        found = next((m for p in patterns if (m := p.match(stated)) and _is_mere(m)), None)
        if found is None:
            break
        stated = stated[found.end() :]
    subject = _SUBJECT.match(stated)
    if subject and _is_mere(subject):
        stated = stated[subject.end() :]
    for mention in _mentions():
        stated = mention.sub("", stated)
    return stated


def _is_mere(frame: re.Match[str]) -> bool:
    text = frame.group()
    return not is_negated(text) and not _TURNED.search(text.lower())


def _is_enough(text: str) -> bool:
    words = _WORD.findall(HAN.sub(" ", text))
    return len(words) >= _FEWEST_WORDS or count_han(text) >= _FEWEST_HAN


def frames() -> Frames:
    """Return the words of frames and connectives."""
    return lexicon().frames


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    return (*_english(frames()), *_chinese(frames()), *LAWS_THAT_SAY)


def _english(words: Frames) -> tuple[re.Pattern[str], ...]:
    verb = rf"\b(?i:{either(words.verbs_en)})\b"
    some = rf"(?i:{either(words.before_sources_en)})"
    noun = rf"(?i:{either(words.sources_en)})\b"
    aside = r"(?:\s+(?i:has|have|had|was|is|were|are|been|can|be|also|further|\w+ly|seen))*\s+"
    told, told_alone = aside + verb, rf"{aside}\b(?i:{either(words.verbs_alone_en)})\b"
    source = rf"(?:{some}\s+){{0,4}}{noun}(?:\s+(?i:by|of|from)\s+{_CITED})?"
    # “Studies in mice” and “a survey of 500 teachers” say more than who says it, and stay.
    part = r"(?i:table|figure|fig\.|section|appendix)\s*\w{1,4}"
    # Two surnames that report something are the authors of a work; one may be anybody.
    pair = rf"{_NAME}\s+(?:and|&)\s+{_NAME}"
    who = rf"(?:{_REFERENCE}(?:\s+(?:{some}\s+)?{noun})?|{source}|{part}|{pair})"
    place = rf"in\s+{part}"
    inside = rf"(?:\s+(?:{place}|(?:by|in)\s+{_CITED}))?"
    return (
        re.compile(rf"(?i:{either(words.connectives_en)})\s*,\s*"),
        re.compile(rf"(?i:in)\s+(?:(?i:his|her)|{some})\s+(?:{some}\s+)?{noun}\s*,\s*"),
        re.compile(rf"(?:{who}{inside}|(?i:it|they)){told}{inside}\s*(?:,\s*)?(?i:that)\s+"),
        re.compile(rf"{who}{told_alone}(?:\s*:\s*|\s+(?!(?i:by|in|as|to|on|for|with|using|from|out)\b))"),
        re.compile(rf"(?i:according\s+to|following|in)\s+(?:the\s+\w+\s+of\s+)?{_REFERENCE}\s*,?\s*"),
        re.compile(rf"(?i:according\s+to)\s+{source}\s*,\s*"),
        re.compile(rf"(?i:as)\s+{who}{told}(?:\s+\w+)?\s*,\s*"),
        re.compile(rf"(?i:as)(?:\s+\w+ly)?\s+{verb}\s+(?i:by|in)\s+{who}\s*,\s*"),
    )  # fmt: skip


def _chinese(words: Frames) -> tuple[re.Pattern[str], ...]:
    verb = f"(?:{either(words.verbs_zh)})"
    source = f"(?:{either(words.before_sources_zh)})*(?:的)?(?:{either(words.sources_zh)})"
    who = f"(?:{_HAN_WORK}(?:的)?(?:{either(words.sources_zh)})?|{source})(?:们|者)?"
    how = "(?:已经|已|也|还|均|都|普遍|进一步|曾|则|通过[^，。；]{1,20})?"
    return (
        re.compile(f"(?:{either(words.connectives_zh)})[，,]\\s*"),
        re.compile(f"(?:据|根据|按照)?{who}{how}{verb}(?:了|出)?[，,：:]?\\s*"),
        re.compile(f"(?:据|根据|按照){who}(?:可知)?[，,]\\s*"),
        re.compile("据(?:报道|悉|介绍|统计|了解)[，,]\\s*"),
    )


@lru_cache(maxsize=1)
def _mentions() -> tuple[re.Pattern[str], ...]:
    verb = rf"\b(?:{either(frames().verbs_en)})\b"
    return (
        re.compile(rf"\s*,?\s*\bas\s+{verb}\s+(?:by|in)\s+{_CITED}\s*,?"),
        re.compile(rf"\s*,?\s*\baccording\s+to\s+{_CITED}"),
    )


def either(words: tuple[str, ...]) -> str:
    """Return a pattern of any of the words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))
