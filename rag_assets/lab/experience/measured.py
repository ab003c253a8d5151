"""Whether a lesson that a model wrote says what was measured, and nothing else.

Numbers of a lesson are those of the feedback: measured values and fractions of the product that
the same part of the sentence names, score, ratio, comparison, or what the experimenter wrote.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rag_assets.chunking import split_sentences
from rag_assets.judging import read_quantities
from rag_assets.lab.experience.differences import PRODUCTS, named_substances, without_formulas

# Within a sentence each of these parts says of its own product what was measured.
_PARTS = re.compile(r"[,;，；、](?!\d)|\b(?:and|but|while|whereas|versus|vs)\b|[和而但与]")
_LOCANT = re.compile(r"\d[\d,']*-(?=[A-Za-z])")
_OF_OTHERS = re.compile(
    r"\b(?:mean|average|maximum|best|others?|history|than|above|below|literature)\b|平均|最|其他|文献|[高低]于",
    re.IGNORECASE,
)
_DECIMALS = re.compile(r"\d+\.(\d+)")


def unmeasured(
    said: str, measured: Sequence[Mapping[str, Any]], told: Any, comparison: Mapping[str, Any]
) -> str:
    """Return the first number of a lesson that the feedback does not have; empty for none.

    Args:
        measured: product, value and fraction of each.
        told: what else the feedback says, the recipe that was made among it.
        comparison: with other runs; its figures count where the lesson speaks of them.
    """
    products = [str(one["product"]) for one in measured]
    # What facts are about: a value of one product is none of another.
    own = [(_named(fact, products), _numbers(fact)) for fact in _facts([list(measured), told])]
    others = [(_named(fact, products), _numbers(fact)) for fact in _facts(comparison)]
    for start, end in split_sentences(said):
        for part in _PARTS.split(said[start:end]):
            named = _named(part, products)
            about = [*own, *others] if _OF_OTHERS.search(part) else own
            for text, value, is_share in _numbers(part):
                decimals = _DECIMALS.search(text)
                tolerance = 0.5 * 10 ** -len(decimals[1] if decimals else "")
                known = (
                    number
                    for of, numbers in about
                    if not of or not named or of & named
                    for number in numbers
                )
                if not any(
                    share == is_share and abs(value - other) <= tolerance
                    for _, other, share in known
                ):
                    return text
    return ""


def _numbers(text: str) -> list[tuple[str, float, bool]]:
    """Return each number as it stands, its value, and whether it is a percentage."""
    plain = without_formulas(_LOCANT.sub(" ", text))
    return [
        (one.text, one.raw, one.unit.kind == "share")
        for one in read_quantities(plain)
        if any(map(str.isdigit, one.text))
    ]


def _named(text: str, products: Sequence[str]) -> frozenset[str]:
    """Return the products that a text names, those too of which nothing was measured."""
    substances, lower = named_substances(text), text.casefold()
    measured = {
        product
        for product in products
        if named_substances(product) & substances
        or re.search(rf"(?<!\w){re.escape(product.casefold())}(?!\w)", lower)
    }
    return frozenset(measured | (substances & PRODUCTS))


def _facts(value: Any, product: str = "") -> Iterator[str]:
    """Yield what is known as sentences; of a product's figures each with its name."""
    if isinstance(value, Mapping):
        own = str(value.get("product", product))
        for key, each in value.items():
            if key == "fraction" and isinstance(each, (int, float)):
                yield f"{own} {100 * each:.10g} %"
            yield from _facts(each, own)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _facts(each, product)
    elif isinstance(value, (int, float)):
        yield f"{product} {value:.10g}"
    elif isinstance(value, str):
        yield from (value[start:end] for start, end in split_sentences(value))
