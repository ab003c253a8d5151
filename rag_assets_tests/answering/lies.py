"""Sentences of the sample papers, and lies made of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag_assets.model import HAN

LieKind = Literal[
    "number", "negation", "direction", "entity", "condition dropped", "wrong passage",
    "unknown passage", "no citation", "framed", "two in one", "wrong credit",
]  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """A sentence of a sample paper, and what of it is changed to make it false.

    Args:
        entity: what it is about, and something else of the papers.
        turned: words of direction, and their contrary.
        condition: words without which it says more than is known; empty for none.
        negated: the sentence, denied.
    """

    text: str
    number: tuple[str, str]
    entity: tuple[str, str]
    turned: tuple[str, str]
    negated: str
    condition: str = ""


FACTS = (
    Fact(
        "On 61 hot days the sedum roofs were 16.7 °C and the intensive roofs 24.4 °C cooler at the "
        "surface than bitumen.",
        ("16.7", "19.7"), ("sedum", "gravel"), ("cooler", "warmer"),
        "On 61 hot days the sedum roofs were not 16.7 °C and the intensive roofs not 24.4 °C "
        "cooler at the surface than bitumen.",
        "On 61 hot days ",
    ),
    Fact(
        "Top-floor rooms were cooler only where the roof was poorly insulated, and no effect was "
        "found in the street below.",
        ("no effect", "an effect of 1 °C"), ("Top-floor rooms", "Cellars"),
        ("cooler", "warmer"),
        "Top-floor rooms were not cooler where the roof was poorly insulated, and no effect was "
        "found in the street below.",
        " only where the roof was poorly insulated",
    ),
    Fact(
        "Irrigated sedum roofs kept an advantage of 15.9 °C through the same dry spells.",
        ("15.9", "5.9"), ("Irrigated sedum roofs", "Bitumen roofs"), ("kept", "lost"),
        "Irrigated sedum roofs kept no advantage of 15.9 °C through the same dry spells.",
        " through the same dry spells",
    ),
    Fact(
        "The response rate was 58%.",
        ("58%", "85%"), ("response rate", "drop-out rate"), ("was", "was below"),
        "The response rate was not 58%.",
    ),
    Fact(
        "Air temperature at head height fell by 0.3 °C.",
        ("0.3", "3.0"), ("Air temperature", "Surface temperature"), ("fell", "rose"),
        "Air temperature at head height did not fall by 0.3 °C.",
        " at head height",
    ),
    Fact(
        "Green roofs are a measure for buildings, not for streets.",
        ("buildings", "two buildings"), ("Green roofs", "Street trees"),
        ("for buildings, not for streets", "for streets, not for buildings"),
        "Green roofs are no measure for buildings, nor for streets.",
    ),
    Fact(
        "No cooling was found in the street.",
        ("No cooling", "A cooling of 2 °C"), ("street", "courtyard"), ("No cooling", "Cooling"),
        "It is not so that no cooling was found in the street.",
        " in the street",
    ),
    Fact(
        "连续十天无雨之后，没有灌溉的测点降温幅度减少约五分之一，主要原因是树木气孔关闭、蒸腾减弱，"
        "而遮阴作用基本保持不变。",
        ("五分之一", "五分之三"), ("没有灌溉的测点", "有灌溉的测点"), ("减少", "增加"),
        "连续十天无雨之后，没有灌溉的测点降温幅度并未减少约五分之一，主要原因是树木气孔关闭、蒸腾减弱，"
        "而遮阴作用基本保持不变。",
        "连续十天无雨之后，",
    ),
)  # fmt: skip

CREDITS = (
    "Ferrante (2019) found that {}", "Lee and colleagues have shown that {}",
    "As Osei et al. (2011) reported, {}", "According to a study by Whitcombe (1999), {}",
)  # fmt: skip
ZH_CREDITS = ("李明等（2019）发现，{}", "根据王伟（2008）的研究，{}")
FRAMES = (
    "However, {}", "The authors found that {}", "It has been reported that {}",
    "According to the study, {}",
)  # fmt: skip
ZH_FRAMES = ("然而，{}", "研究表明，{}", "作者发现，{}")


def is_chinese_fact(fact: Fact) -> bool:
    return HAN.search(fact.text) is not None


def lies_of(fact: Fact, alias: str, wrong: str) -> Iterator[tuple[LieKind, str]]:
    """Yield lies about a fact that stands in passage `alias` and not in `wrong`."""
    stop = fact.text[-1]
    said = fact.text[:-1]

    def cite(text: str, mark: str) -> str:
        return f"{text.rstrip(stop)} [{mark}]{stop}"

    changed = {
        "number": said.replace(*fact.number),
        "entity": said.replace(*fact.entity),
        "direction": said.replace(*fact.turned),
        "negation": fact.negated,
        "condition dropped": _without(said, fact.condition),
    }
    for kind, text in changed.items():
        if text:
            yield kind, cite(text, alias)  # type: ignore[misc]
    yield "framed", cite((ZH_FRAMES[0] if is_chinese_fact(fact) else FRAMES[0]).format(
        _lower(changed["number"])), alias)  # fmt: skip
    yield "wrong passage", cite(said, wrong)
    yield "unknown passage", cite(said, "C99")
    yield "unknown passage", cite(said, f"{alias}, C98")
    yield "no citation", fact.text
    for credit in ZH_CREDITS if is_chinese_fact(fact) else CREDITS:
        yield "wrong credit", cite(credit.format(_lower(said)), alias)
    yield "two in one", cite(f"{said}, and {_lower(changed['direction'])}", alias)


def truths_of(fact: Fact, alias: str) -> Iterator[tuple[str, str]]:
    """Yield true sentences close to a fact's words, each with how it is close."""
    stop, said = fact.text[-1], fact.text[:-1]
    yield "word for word", f"{said} [{alias}]{stop}"
    yield "mark behind the stop", f"{fact.text} [{alias}]"
    yield "in a list", f"- **{said}** [{alias}]{stop}"
    for frame in ZH_FRAMES if is_chinese_fact(fact) else FRAMES:
        yield "framed", f"{frame.format(_lower(said))} [{alias}]{stop}"


def _without(text: str, part: str) -> str:
    left = text.replace(part, "") if part else ""
    return left[:1].upper() + left[1:]


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:] if re.match(r"[A-Z][a-z]", text) else text
