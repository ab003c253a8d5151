"""Turn a supported claim into one that its source does not support: one change, of a stated kind.

The words here are this script's own, not the scorer's, so that it is not asked what it was told.
"""

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

KINDS = ("number", "unit", "direction", "negation", "entity", "source")

_NUMBER = re.compile(r"(?<![\w.,-])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w]*[A-Za-z]\d)(?!\d)")
_WORDS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
_NUMBER_WORDS: list[str] = _WORDS["number_words"].split()
# [12], [3, 7-9]: a citation, which says nothing about its source.
_MARK = re.compile(r"\[\d[\d,;\s–-]*(?:\]|\[)")
_HAN_NUMBERS = "二三四五六七八九十"
_UNIT_SWAPS: dict[str, list[str]] = _WORDS["units"]
_UNIT = re.compile(
    r"(?<![\w.])(\d[\d,.]*|[a-z]+|[一二三四五六七八九十两百千]+)(\s?)("
    + "|".join(sorted(map(re.escape, _UNIT_SWAPS), key=len, reverse=True))
    + r")(?![A-Za-z])"
)
_OPPOSITES = _WORDS["opposites"].split()
_SINGLE_OPPOSITES = _WORDS["single_opposites"].split()
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|will|would|has|have|had|may|might|should|must|does|did)\b"
    r"(?!\s+(?:not|n't|no|never)\b)"
)
_DROPPED = re.compile(r"\s(not|never)(?=\s)|(?<=\w)n't\b|\b(without)\b|\b(no)\s(?=\w)")
_HAN_DROPPED = re.compile(
    "没有|不会|不能|不是|尚未|并未|从未|未能|未|没|不(?![仅但断同少久过论管足得等])"
)
_HAN_INSERTED: list[list[str]] = [pair.split("/") for pair in _WORDS["inserted"].split()]
_NAME = re.compile(
    r"(?<![.!?:]\s)(?<!^)(?<!\w)[A-Z][\w'’-]+(?:\s(?:of\s|the\s|de\s)?[A-Z][\w'’-]+)*"
)
_NO_NAMES = {
    "The",
    "A",
    "In",
    "It",
    "This",
    "These",
    "There",
    "CIT",
    "I",
    "He",
    "She",
    "LRB",
    "RRB",
}
_HAN = "[\u4e00-\u9fff]"
_HAN_NAME = re.compile(
    "|".join(
        (
            *_WORDS["places"].split(),
            f"{_HAN}{{2,4}}(?:大学|公司|银行|医院|集团|俱乐部)",
            f"{_HAN}{{2,5}}·{_HAN}{{2,5}}",
            f"(?<=记者){_HAN}{{2,3}}(?=[，）)])",
            f"[老小]{_HAN}(?=[是在有说])",
            "[赵钱孙李周吴郑王张刘陈杨](?:厂长|经理|总|先生|女士|教授|主任)",
        )
    )
)


def mutate(
    kind: str, claim: str, is_han: bool, names: Sequence[str], chance: random.Random
) -> str | None:
    """Return the claim with one change of a kind; None where it offers none.

    Args:
        kind: of `KINDS`, `source` apart: that changes the evidence.
        names: of other claims, to be put in the place of one.
    """
    if kind == "entity":
        return _entity(claim, is_han, names, chance)
    if kind == "negation" and is_han:
        return _han_negation(claim, chance)
    makers: dict[str, Callable[[str, random.Random], str | None]] = {
        "number": _number, "unit": _unit, "direction": _direction, "negation": _negation,
    }  # fmt: skip
    return makers[kind](claim, chance)


def find_names(claim: str, is_han: bool) -> list[str]:
    """Return the names that `mutate` could replace."""
    if is_han:
        return [match.group() for match in _HAN_NAME.finditer(claim)]
    return [m.group() for m in _NAME.finditer(claim) if m.group() not in _NO_NAMES]


def _put(claim: str, start: int, end: int, text: str) -> str:
    return claim[:start] + text + claim[end:]


def _number(claim: str, chance: random.Random) -> str | None:
    marks = [match.span() for match in _MARK.finditer(claim)]
    found = [
        match
        for match in _NUMBER.finditer(claim)
        if not any(start <= match.start() < end for start, end in marks)
    ]
    words = list(re.finditer(rf"\b({'|'.join(_NUMBER_WORDS)})\b", claim))
    words += list(re.finditer(f"[{_HAN_NUMBERS}](?=[个名人次年天岁倍成位家项种条])", claim))
    if not found and not words:
        return None
    match = chance.choice(found or words)
    text = match.group()
    if not found:
        pool: Sequence[str] = _NUMBER_WORDS if text.isascii() else _HAN_NUMBERS
        return _put(claim, *match.span(), chance.choice([w for w in pool if w != text]))
    whole = int(match[1].replace(",", ""))
    if match[2]:
        value = float(text.replace(",", "")) * chance.choice([0.4, 0.7, 1.4, 2.2])
        other = f"{value:.{len(match[2]) - 1}f}"
    elif 1500 <= whole <= 2100:
        other = str(whole + chance.choice([-11, -7, -3, -2, -1, 1, 2, 3, 6]))
    elif whole < 10:
        other = str(chance.choice([n for n in range(1, 10) if n != whole]))
    else:
        other = str(max(1, round(whole * chance.choice([0.3, 0.6, 0.8, 1.3, 1.7, 3]))))
        other = f"{int(other):,}" if "," in match[1] else other
    return _put(claim, *match.span(), other) if other != text else None


def _unit(claim: str, chance: random.Random) -> str | None:
    numbers = {*_NUMBER_WORDS, "one", "hundred", "several", "few"}
    found = [
        m for m in _UNIT.finditer(claim)
        if m[1][0].isdigit() or m[1] in numbers or not m[1].isascii()
    ]  # fmt: skip
    if not found:
        return None
    match = chance.choice(found)
    other = chance.choice(_UNIT_SWAPS[match[3]])
    return _put(claim, match.start(3), match.end(3), other)


def _direction(claim: str, chance: random.Random) -> str | None:
    table, single = _both_ways(_OPPOSITES), _both_ways(_SINGLE_OPPOSITES)
    words = sorted(table, key=len, reverse=True)
    latin = "|".join(w for w in words if w.isascii())
    han = "|".join(w for w in words if not w.isascii())
    found = list(re.finditer(rf"\b(?:{latin})\b|{han}", claim))
    found = found or list(re.finditer(f"(?<=[更最较很])(?:{'|'.join(single)})", claim))
    table |= single
    if not found:
        return None
    match = chance.choice(found)
    return _put(claim, *match.span(), chance.choice(table[match.group()]))


def _both_ways(pairs: Sequence[str]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for pair in pairs:
        a, b = pair.split("/")
        table.setdefault(a, []).append(b)
        table.setdefault(b, []).append(a)
    return table


def _negation(claim: str, chance: random.Random) -> str | None:
    dropped = list(_DROPPED.finditer(claim))
    if dropped:
        match = chance.choice(dropped)
        return _put(claim, *match.span(), "with" if match[2] else "")
    found = list(_AUXILIARY.finditer(claim))
    if not found:
        return None
    match = chance.choice(found[:2])
    return _put(claim, match.end(), match.end(), " not")


def _han_negation(claim: str, chance: random.Random) -> str | None:
    dropped = list(_HAN_DROPPED.finditer(claim))
    if dropped:
        match = chance.choice(dropped)
        kept = {"没有": "有", "不会": "会", "不能": "能", "不是": "是", "未能": "能", "没": "有"}
        return _put(
            claim, *match.span(), kept.get(match.group(), "已" if "未" in match.group() else "")
        )
    for plain, negated in _HAN_INSERTED:
        at = claim.find(plain)
        if at >= 0:
            return _put(claim, at, at + len(plain), negated)
    return None


def _entity(claim: str, is_han: bool, names: Sequence[str], chance: random.Random) -> str | None:
    own = find_names(claim, is_han)
    others = [
        name for name in names if name not in claim and not any(w in claim for w in name.split())
    ]
    if not own or not others:
        return None
    name = chance.choice(own)
    at = claim.find(name)
    return _put(claim, at, at + len(name), chance.choice(others))
