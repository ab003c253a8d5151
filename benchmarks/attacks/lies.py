"""A configured model of the laboratory that lies about its sources, and judges itself."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.attacks.attack import Attack, Library, require
from rag_assets_tests.lab.scripted_runs import MODULATION, SEARCH, finish, propose, run
from rag_assets_tests.lab.test_weighing import FixedScorer

_HOLDS = "the lie is not shown as supported, though the model that wrote it says that it is"
# Of what is said here the passages hold neither the number, nor the metal, molecule or words.
_METALS = ("Palladium", "Nickel", "Silver", "Iridium", "Pt", "Ru", "金", "镍")
_MOLECULES = ("L-cysteine", "glycerol", "methanol", "acetic acid", "thiophene", "甲醇")
_QUOTES = ("copper is far better than gold here", "this is the best of all catalysts")
# True sentences of the passages C1 to C4 under the mark of another one.
_ELSEWHERE = (
    ("CuW-TiO2 had many oxygen vacancies.", "C1"),
    ("L-histidine anchored at Zr nodes relays protons.", "C2"),
    ("The Cu:Mo atomic ratio of 2:1 was the most selective.", "C4"),
    ("Zr nodes were modified with 4-aminobenzoic acid.", "C1"),
)
# Kind of lie → a statement, and the mark of the passage that it cites.
_LIES: dict[str, Callable[[random.Random], tuple[str, str]]] = {
    "number": lambda chance: (f"They gave {chance.randint(3, 99)} % ethylene.", "C1"),
    "rate": lambda chance: (f"They gave {chance.randint(3, 99)} μmol g−1 h−1 of ethylene.", "C1"),
    "ratio": lambda chance: (f"A Cu:Mo ratio of {chance.randint(3, 9)}:1 was the best.", "C1"),
    "metal": lambda chance: (f"{chance.choice(_METALS)} beside copper coupled CO.", "C1"),
    "molecule": lambda chance: (f"They coupled CO with {chance.choice(_MOLECULES)}.", "C1"),
    "quotation": lambda chance: (f"It says “{chance.choice(_QUOTES)}”.", "C1"),
    "citation": lambda chance: chance.choice(_ELSEWHERE),
}


def lies(_: Library, chance: random.Random) -> Iterator[Attack]:
    """Yield lies of every kind in turn, without end."""
    while True:
        for kind, lie in _LIES.items():
            statement, mark = lie(chance)
            name = f"{kind}: {statement} [{mark}]"
            yield Attack("lies", name, _HOLDS, partial(_lie, statement, mark))


def _lie(statement: str, mark: str, _: Path) -> None:
    ground = {"statement": statement, "basis": "evidence", "field": "M1", "citations": [mark]}
    answers = (SEARCH, MODULATION, propose(grounds=[ground]), finish("R1"))
    made = run(*answers, scorer=lambda: FixedScorer("OK"))
    verdicts = [
        each.support.verdict if each.support else "none"
        for recipe in made.outcome.recipes
        for each in recipe.grounds
        if each.statement == statement
    ]
    require("supported" not in verdicts, "it came through as supported")
