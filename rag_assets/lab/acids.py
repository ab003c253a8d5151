"""Carboxylic acids that are known by name, each with its structure (`configs/lab_acids.tsv`).

The table holds the acids that modify frameworks or are bought as reagents; a name that is not in
it says nothing of –COOH.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rag_assets.model import HAN
from rag_assets.workspace import configs_folder

ACIDS_FILE = "lab_acids.tsv"
_MOST_WORDS = 4
_WORD = re.compile(r"[^\s;:，。；：、/]+")
_EDGES = ".,;:!?\"'”“"
_HYDRATE = re.compile(r" (?:mono|di|tri)?hydrate$")
# "glycine-modified" names glycine.
_TREATED = re.compile(
    r"(.+?)[-–](?:modif|functionali|capp|graft|anchor|treat|decorat|coordinat|bear|based)\w*"
)
# Before a Chinese name: it is the end of a longer one.
_HAN_BEFORE = re.compile(
    r"[基氟氯溴碘羟氨硝巯氰羧氧硫磺磷硼烷烯炔苯萘蒽芘啶唑哚喃吩嗪啉酮二三四五六七八九十对邻间代聚异仲叔环\d-]$"
)
_HAN_SIZE = 16
# Behind a name: another molecule, whose –COOH is gone.
_DERIVED = re.compile(
    r"\s*(?:\b(?:esters?|amides?|chlorides?|anhydrides?|nitriles?|hydrazides?|lact(?:one|am)s?)\b"
    r"|[酯酰酐盐根])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Acids:
    """The table.

    Args:
        structures: SMILES by main name.
        names: main name by every name, in lower case.
        linkers: main names of those that frameworks are built from.
    """

    structures: dict[str, str]
    names: dict[str, str]
    linkers: frozenset[str]


@cache
def acids() -> Acids:
    """Return the table of `configs/lab_acids.tsv`."""
    structures: dict[str, str] = {}
    names: dict[str, str] = {}
    linkers: set[str] = set()
    path = configs_folder() / ACIDS_FILE
    with path.open(encoding="utf-8", newline="") as stream:
        for main, smiles, english, chinese, linker in csv.reader(
            stream, delimiter="\t", quoting=csv.QUOTE_NONE
        ):
            structures[main] = smiles
            others = (*english.split(" | "), *chinese.split(" | "))
            names |= {one.casefold(): main for one in (main, *others) if one}
            if linker:
                linkers.add(main)
    return Acids(structures, names, frozenset(linkers))


def acid_of(name: str) -> str | None:
    """Return the main name of an acid; None for a name that is not in the table."""
    known = acids().names
    plain = _HYDRATE.sub("", " ".join(name.split()).casefold())
    return known.get(plain) or known.get(plain.partition("(")[0].strip())


def acids_at(text: str) -> list[tuple[int, int, str]]:
    """Return where a text names acids, in order: start, end, main name."""
    return sorted((*_english(text), *_chinese(text)))


def _english(text: str) -> Iterator[tuple[int, int, str]]:
    known = acids().names
    words = [(one.start(), one.end()) for one in _WORD.finditer(text)]
    place = 0
    while place < len(words):
        for count in range(min(_MOST_WORDS, len(words) - place), 0, -1):
            start, end = words[place][0], words[place + count - 1][1]
            written = " ".join(text[start:end].split()).strip(_EDGES)
            treated = _TREATED.fullmatch(written)
            ways = (written, written.strip("()[]"), treated[1] if treated else "")
            main = next((known[one.casefold()] for one in ways if one.casefold() in known), None)
            if main is not None and not _DERIVED.match(text, end):
                end -= len(text[start:end]) - len(text[start:end].rstrip(f"{_EDGES}()[]"))
                yield start, end, main
                place += count - 1
                break
        place += 1


def _chinese(text: str) -> Iterator[tuple[int, int, str]]:
    known = acids().names
    if HAN.search(text) is None:
        return
    for match in re.finditer("酸", text):
        end = match.end()
        for start in range(max(0, end - _HAN_SIZE), end - 1):
            main = known.get(text[start:end].casefold())
            if main is not None:
                if not _HAN_BEFORE.search(text[:start]) and not _DERIVED.match(text, end):
                    yield start, end, main
                break
