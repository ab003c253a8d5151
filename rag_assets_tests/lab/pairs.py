"""Pairs of lessons, made from templates: they show that the code runs, never that it is right."""

import random
from collections.abc import Callable, Iterator
from itertools import islice, product

METALS = [("Cu", "copper"), ("Mo", "molybdenum"), ("Zn", "zinc"), ("W", "tungsten"),
          ("Fe", "iron"), ("Ag", "silver"), ("Bi", "bismuth"), ("Ce", "cerium")]  # fmt: skip
PRODUCTS = [("C2H4", "ethylene"), ("CH4", "methane"), ("CO", "carbon monoxide")]
MOLECULES = ["benzoic acid", "glycine", "formic acid", "cysteine"]
QUANTITIES = ["selectivity", "activity", "yield", "production rate"]
HOURS = [2, 4, 6, 12]

Maker = Callable[[random.Random], tuple[str, str]]


def _two(rng: random.Random) -> tuple[tuple[str, str], tuple[str, str]]:
    one, other = rng.sample(METALS, 2)
    return one, other


def _contra() -> list[Maker]:
    def direction(rng: random.Random) -> tuple[str, str]:
        (metal, _), (p, _), q = rng.choice(METALS), rng.choice(PRODUCTS), rng.choice(QUANTITIES)
        up, down = rng.choice([("raised", "lowered"), ("increased", "decreased"),
                               ("improved", "worsened"), ("promoted", "suppressed")])  # fmt: skip
        text = "Doping with {m} {d} the {q} to {p}."
        return text.format(m=metal, d=up, q=q, p=p), text.format(m=metal, d=down, q=q, p=p)

    def amount(rng: random.Random) -> tuple[str, str]:
        (metal, name), (_, p), q = rng.choice(METALS), rng.choice(PRODUCTS), rng.choice(QUANTITIES)
        one, other = rng.choice([("More", "Less"), ("Higher amounts of", "Lower amounts of")])
        return f"{one} {metal} helps the {q} for {p}.", f"{other} {name} helps the {p} {q}."

    def denial(rng: random.Random) -> tuple[str, str]:
        molecule, (p, _) = rng.choice(MOLECULES), rng.choice(PRODUCTS)
        what = f"Grafting {molecule} at the node"
        return f"{what} had an influence on {p}.", f"{what} did not have any influence on {p}."

    def number(rng: random.Random) -> tuple[str, str]:
        one, other = rng.sample(HOURS, 2)
        p, q = rng.choice(PRODUCTS)[1], rng.choice(QUANTITIES)
        text = "Irradiation for {h} hours gave the best {p} {q}."
        return text.format(h=one, p=p, q=q), text.format(h=other, p=p, q=q)

    def metal(rng: random.Random) -> tuple[str, str]:
        (a, _), (b, _) = _two(rng)
        q = rng.choice(QUANTITIES)
        return f"{a} outperforms {b} in {q}.", f"{b} outperforms {a} in {q}."

    def swap(rng: random.Random) -> tuple[str, str]:
        one, other = rng.sample(QUANTITIES, 2)
        name = rng.choice(METALS)[1]
        text = "{n} raised the {a} but lowered the {b}."
        return (text.format(n=name.capitalize(), a=one, b=other),
                text.format(n=name.capitalize(), a=other, b=one))  # fmt: skip

    def order(rng: random.Random) -> tuple[str, str]:
        molecule, name = rng.choice(MOLECULES), rng.choice(METALS)[1]
        text = "Anneal the {n} oxide {o} grafting {m}."
        return (text.format(n=name, o="before", m=molecule),
                text.format(n=name, o="after", m=molecule))  # fmt: skip

    def chinese(rng: random.Random) -> tuple[str, str]:
        name = rng.choice(["铜", "钼", "锌", "铁"])
        product_name, q = rng.choice(["乙烯", "甲烷"]), rng.choice(["选择性", "活性"])
        return (
            f"提高{name}的含量增加了{product_name}的{q}。",
            f"提高{name}的含量降低了{product_name}的{q}。",
        )

    return [direction, amount, denial, number, metal, swap, order, chinese]


def _same() -> list[Maker]:
    def voice(rng: random.Random) -> tuple[str, str]:
        (m, name), (p, long), q = rng.choice(METALS), rng.choice(PRODUCTS), rng.choice(QUANTITIES)
        up = rng.choice([("raised", "increased"), ("improved", "enhanced"), ("lowered", "reduced")])
        return (f"Doping with {m} {up[0]} the {q} to {p}.",
                f"The {q} to {long} was {up[1]} by doping with {name}.")  # fmt: skip

    def moved(rng: random.Random) -> tuple[str, str]:
        molecule, hours, q = rng.choice(MOLECULES), rng.choice(HOURS), rng.choice(QUANTITIES)
        return (f"After {hours} hours, grafted {molecule} gave a higher {q}.",
                f"Grafted {molecule} gave a higher {q} after {hours} hours.")  # fmt: skip

    def pair(rng: random.Random) -> tuple[str, str]:
        (a, long_a), (b, long_b) = _two(rng)
        p, long_p = rng.choice(PRODUCTS)
        return (f"{a}–{b} doping of TiO2 promotes {p}.",
                f"Doping titania with {long_a} and {long_b} boosts {long_p}.")  # fmt: skip

    def denial(rng: random.Random) -> tuple[str, str]:
        m, name = rng.choice(METALS)
        p, long = rng.choice(PRODUCTS)
        return (f"{m} did not form any {p} in this setup.",
                f"In this setup no {long} was formed with {name}.")  # fmt: skip

    def chinese(rng: random.Random) -> tuple[str, str]:
        name, p = rng.choice(["铜", "钼", "锌", "铁"]), rng.choice(["乙烯", "甲烷"])
        return f"掺杂{name}提高了{p}的选择性。", f"{p}的选择性因掺杂{name}而提高。"

    return [voice, moved, pair, denial, chinese]


def _draw(makers: list[Maker], seed: int) -> Iterator[tuple[str, str]]:
    rng, seen = random.Random(seed), set()
    for number, _ in product(range(10_000), [0]):
        pair = makers[number % len(makers)](rng)
        if pair not in seen:
            seen.add(pair)
            yield pair


def contradictions(count: int) -> list[tuple[str, str]]:
    """Return pairs of lessons that contradict each other, every template in turn."""
    return list(islice(_draw(_contra(), 3), count))


def paraphrases(count: int) -> list[tuple[str, str]]:
    """Return pairs of lessons that say the same, every template in turn."""
    return list(islice(_draw(_same(), 4), count))
