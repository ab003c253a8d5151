"""Where a sentence says which law it is from: “Under Article 17 of the GDPR, …”."""

import re

from rag_assets.law import ENGLISH_ADDRESS, LAW_NOUNS, NUMBER

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
