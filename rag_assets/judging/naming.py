"""Whether a text names what a claim names, however each of them writes it."""

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.judging.folding import fold
from rag_assets.judging.lexicon import lexicon
from rag_assets.judging.names import Name, read_names
from rag_assets.judging.terms import read_terms

_KEPT_TEXTS = 20_000
_SHORTEST = 3
# With a hyphen or digits, so that what is found without them is hardly another name.
_SHORTEST_JOINED = 4
_WORD = re.compile(r"[^\W_]+")
_BINDING = re.compile(r"[\s\-–/]")
_JOINED = re.compile(
    r"[A-Z][\w'’-]+,?\s+(?:[Aa]nd|&|[Oo]r|[Vv]s\.?|[Vv]ersus)\s+(?:[A-Z][\w'’-]+\s?){1,2}"
    r"|[\u4e00-\u9fff]{2,8}[和与、及][\u4e00-\u9fff]{2,8}"
)
_HYPHEN = re.compile(r"[-–/]")
_IS_JOINED = re.compile(r"[-–/\d]")


@dataclass(frozen=True, slots=True)
class NamedText:
    """A text, prepared for asking what it names.

    Args:
        folded: in lower case; `joined` without blanks and hyphens, too.
        words: as they stand.
        units: stems of its content words.
        initials: of its content words, in their order.
        abbreviations: keys of its names in capitals.
        aliases: place and group of each name that has other names.
    """

    folded: str
    joined: str
    words: frozenset[str]
    units: frozenset[str]
    initials: str
    abbreviations: frozenset[str]
    aliases: tuple[tuple[int, int, int], ...]

    def holds(self, name: Name, claim: "NamedText") -> bool:
        """Say whether the text has a name of the claim, in full, abbreviated, or another of it."""
        key = name.key
        # “US” is not “us”, and may stand in “must”.
        if len(key) < _SHORTEST and key.isascii():
            if name.text in self.words:
                return True
        elif key in self.folded or all(self._has_unit(part) for part in _parts(name)):
            return True
        is_joined = len(key) >= _SHORTEST_JOINED and _IS_JOINED.search(key)
        if is_joined and _BINDING.sub("", key) in self.joined:
            return True
        if name.text.isupper() and len(key) >= 2 and key in self.initials:
            return True
        # The claim spells out what the text abbreviates.
        if any(key[0] in short and short in claim.initials for short in self.abbreviations):
            return True
        groups = {group for start, end, group in claim.aliases
                  if start <= name.start and name.end <= end}  # fmt: skip
        return any(group in groups for *_, group in self.aliases)

    def _has_unit(self, part: str) -> bool:
        return any(term.unit in self.units for term in read_terms(part).items[:1])


def _parts(name: Name) -> list[str]:
    """Return what has to be found of “Smith–Lee” (both), “US-based” (US) and “Lisbon”."""
    parts = _HYPHEN.split(name.text)
    names = [part for part in parts if any(c.isupper() or c.isdigit() for c in part)]
    return [fold(part) for part in names] if len(parts) > 1 and names else [name.key]


def is_joined(name: Name, title: str) -> bool:
    """Say whether a title puts another name beside one: “Lisbon and Porto”.

    In a title whose words all have capitals names cannot be told from words.
    """
    return any(name.text in match.group() for match in _JOINED.finditer(title))


@lru_cache(maxsize=_KEPT_TEXTS)
def read_named(text: str) -> NamedText:
    """Return a text prepared for asking what it names."""
    folded = fold(text)
    terms = read_terms(text)
    return NamedText(
        folded,
        _BINDING.sub("", folded),
        frozenset(_WORD.findall(text)),
        frozenset(terms.weights),
        "".join(term.unit[0] for term in terms.items if term.kind == "word"),
        frozenset(
            name.key
            for name in read_names(text)
            if name.text.isupper() and len(name.key) >= _SHORTEST
        ),
        tuple(_aliases(text)),
    )


def _aliases(text: str) -> list[tuple[int, int, int]]:
    groups = lexicon().same_names
    return [
        (match.start(), match.end(), groups[match.group()])
        for match in _alias_pattern().finditer(text)
    ]


@lru_cache(maxsize=1)
def _alias_pattern() -> re.Pattern[str]:
    # As they are written (Poles, not poles); Chinese ones stand between any characters.
    names = sorted(lexicon().same_names, key=lambda name: (-len(name), name))
    latin = "|".join(re.escape(name) for name in names if name.isascii())
    others = "|".join(re.escape(name) for name in names if not name.isascii())
    return re.compile(rf"(?<![A-Za-z0-9])(?:{latin})(?![A-Za-z0-9])|{others}")
