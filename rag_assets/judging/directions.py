"""Which way something goes: whether it rises or falls, and from which side it is limited."""

import re

from rag_assets.judging.folding import fold
from rag_assets.judging.negation import is_negated

_ROUGHLY = r"(?:about|approximately|around|roughly|some|[~≈约])"
MORE = "(?:more|greater|higher|larger|longer|later|older)"
LESS = "(?:less|fewer|lower|smaller|shorter|earlier|younger)"
_NOT = r"(?:\b(?:no|not|never|cannot)\s(?:to\s)?|n't\s)"
_UNDENIED = r"(?<!\bno\s)(?<!\bnot\s)(?<!n't\s)(?<!\bnever\s)(?<!\bcannot\s)(?<!\bnot to\s)"
# Before what is limited; folded text.
AT_LEAST = re.compile(
    rf"({_UNDENIED}\b(?:{MORE}\sthan|over|above|exceed\w*)|{_NOT}(?:{LESS}\sthan|below|under)"
    r"|\bat least|\bminimum(?:\sof)?|>=?|≥|\\geq?"
    r"|(?<![不能得应可会])(?:超过|多于|高于|大于)|逾|(?<![不未])满"
    r"|(?:至少|最[少低短小])(?:可以|可|要|应)?(?:达到|达|为|是)?"
    rf"|(?:不|不得|不能|不应|不可|不会)(?:少于|低于|小于|短于|早于))(?:\s?{_ROUGHLY})?\s*$"
)
AT_MOST = re.compile(
    rf"({_UNDENIED}\b(?:{LESS}\sthan|below|under)|{_NOT}(?:{MORE}\sthan|over|above|exceed\w*)"
    r"|\bat most|\bmaximum(?:\sof)?|\bup to|<=?|≤|\\leq?"
    r"|\bwithin(?:\sthe\s(?:first|last|past|next))?"
    r"|不到|不足|不满|未满"
    r"|(?:至多|最[多高长大])(?:可以|可|能)?(?:达到|达|为|是)?|(?<![不能得应可会])(?:低于|少于|小于)"
    rf"|(?:不|不得|不能|不应|不可|不会)(?:超过|多于|高于|大于|长于|晚于))(?:\s?{_ROUGHLY})?\s*$"
)
_UP = re.compile(
    r"\b(?:rose|ris(?:es?|ing|en)|grew|grow(?:s|n|ing)?|increas\w+|rais\w+|climb\w+|higher|"
    r"overestimat\w+)\b|提高|增加|增长|上升|升高|上涨|延长|[高多](?=[于出了\d])|更高|高估"
)
_DOWN = re.compile(
    r"\b(?:f[ae]ll|fallen|falling|falls|decreas\w+|declin\w+|drop(?:s|ped|ping)?|reduc\w+|"
    r"lower\w*|underestimat\w+)\b|下降|降低|减少|下跌|缩短|[低少](?=[于了\d])|更低|低估"
)
# What a number would be: “at most n times”, “at least 5d”.
_SYMBOL = re.compile(r"(?<![\w.])\d*(?!a\b)[a-zα-ω](?![\w'’])")
_REACH = 30


def trend_of(folded: str) -> int:
    """Return 1 where a text speaks of what rises or is higher, -1 of what falls, 0 of both, of
    none or of what is denied.
    """
    trend = int(bool(_UP.search(folded))) - int(bool(_DOWN.search(folded)))
    return 0 if trend and is_negated(folded) else trend


def limits_of(text: str) -> dict[str, int]:
    """Return for each symbol whether it limits from below (1) or from above (-1)."""
    folded, found = fold(text), {}
    for match in _SYMBOL.finditer(folded):
        before = folded[max(0, match.start() - _REACH) : match.start()]
        side = int(bool(AT_LEAST.search(before))) - int(bool(AT_MOST.search(before)))
        if side:
            found[match.group()] = side
    return found
