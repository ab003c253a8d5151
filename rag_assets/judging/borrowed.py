"""What a claim that follows one clause of its source has from another one, in that one's place.

“Rainfall explained 61 % of the variance in yield, temperature a further 12 %” holds every word of
“temperature explained 61 % of the variance in yield”. A clause that leaves out what the one before
it says may be filled up from it: “temperature explained a further 12 % of the variance in yield”
takes the second clause whole.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from rag_assets.judging.clauses import FINITE, PRONOUN
from rag_assets.judging.contract import Sign
from rag_assets.judging.folding import fold
from rag_assets.judging.term_weights import stem
from rag_assets.judging.terms import read_terms

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[\u3400-\u9fff]|[^\W\d_]+(?:['’][^\W\d_]+)?\d*|[^\s\w]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]{2,}")
# Model B, A*; “A” before a small letter is an article.
_LETTER = re.compile(r"(?<![\w'’])(?:[A-Z](?![\w'’]| [a-z])|(?<=[a-z] )[A-Z](?![\w'’]))")
_SENTENCE_END = re.compile(r"[;!?。；！？]|\.(?=\s)")
_PIECE_END = re.compile(
    r"[;:!?—，。；：！？\n]|,(?!\d)|\.(?!\d)|\b(?:and|but|while|whereas|although|though)\b|[而但]"
)
_COMMAS = frozenset(",，")
# “The reservoir, built in 1932, supplies …”: what stands between commas is said of the same thing.
_ASIDE = re.compile(
    r"(?P<of>[^,;:.!?]*),(?P<aside> (?:which|who|whose|where|(?:[a-z]+ )?(?:[a-z]+ed|born|built|"
    r"found|given|held|known|led|lost|made|seen|set|taken|won|written))\b[^,;:.!?]*),"
)
# They carry no content, but tell two clauses apart.
_TELLING = frozenset(
    ["first", "second", "third", "fourth", "last", "next", "former", "latter", "above", "below",
     "under", "over", "before", "after", "with", "without", "more", "less", "not", "both", "all"]
)  # fmt: skip
_DENIALS = dict.fromkeys(["no", "none", "neither", "nor", "never", "nowhere"], "not")
# Of the matched tokens one clause must have these at least for a claim to follow it.
_FEWEST_SHARED = 3
# Weight from which a word that a clause has and the claim has not is something left out.
_LEFT_OUT = 0.25
_ANAPHORS = frozenset({"the", "this", "these", "that", "those", "such", "both", "its", "their"})
# Tokens of “and B”; a longer insertion is a clause of its own.
_FEW = 4
_JOINS = frozenset(["and", "or", *"和与及或"])


class _Token(NamedTuple):
    key: str
    start: int
    end: int


class _Piece(NamedTuple):
    """A clause of the source and the number of its sentence."""

    text: str
    sentence: int
    tokens: list[_Token]


def find_borrowed(claim: str, window: str) -> Iterator[Sign]:
    """Yield what stands in a claim where the clause that it follows has something else.

    Args:
        window: the sentence that the claim follows, with its neighbours.
    """
    own, pieces = _tokens(claim), _pieces(window)
    if len(pieces) < 2:
        return
    held = _content(claim)
    here = max(pieces, key=lambda piece: _share(held & _content(piece.text)))
    others = [piece for piece in pieces if piece is not here]
    theirs, ours = ([token.key for token in tokens] for tokens in (here.tokens, own))
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    shared = sum(block.size for block in matcher.get_matching_blocks())
    if shared < max(2, min(_FEWEST_SHARED, len(own) // 2)):
        return
    for kind, a, b, c, d in matcher.get_opcodes():
        old, new = here.tokens[a:b], own[c:d]
        if kind == "replace":
            if _is_said_otherwise(here, old, new):
                continue
        elif kind != "insert" or not _is_joined(new, claim):
            continue
        candidates = _widened(own, c, d)
        if "|" in window:  # of a row of a table, with the heads of its columns between
            candidates += [[token] for token in new]
        for mine in (_shown(claim, tokens) for tokens in candidates):
            if not _content(mine) or _holds(here.text, mine):
                continue
            homes = [piece for piece in others if _holds(piece.text, mine)]
            if not homes or any(
                _refers(here, a, piece) or _is_whole(piece, claim, here.text) for piece in homes
            ):
                continue
            other = _shown(here.text, old)
            where = f"here has “{other}”, and “{mine}”" if other else f"has “{mine}”"
            text = f"The source {where} elsewhere; see which goes with which."
            yield Sign("words", mine, other, text)
            return


def takes_whole(claim: str, window: str, start: int, end: int) -> bool:
    """Say whether a claim has all of the clause of a source that the characters stand in."""
    held = _content(claim)
    place = 0
    for match in [*_PIECE_END.finditer(window), None]:
        stop = match.start() if match else len(window)
        if place <= start and end <= stop:
            return _content(window[place:stop]) <= held
        place = match.end() if match else stop
    return False


def _pieces(window: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    asides: list[tuple[str, int]] = []
    start = sentence = 0
    waiting = ""
    plain = _ASIDE.sub(lambda match: f"{match['of']} {' ' * len(match['aside'])} ", window)
    asides_at = {m.start(): f"{m['of']} {m['aside']}" for m in _ASIDE.finditer(window)}
    for match in [*_PIECE_END.finditer(plain), None]:
        end = match.start() if match else len(plain)
        text = f"{waiting} {plain[start:end].strip()}".strip()
        asides += [(said, sentence) for at, said in asides_at.items() if start <= at < end]
        is_end = match is None or bool(_SENTENCE_END.match(plain, match.start()))
        is_comma = match is not None and match.group() in _COMMAS
        if is_comma and _says_nothing(text):
            waiting = text
        else:
            waiting = ""
            if any(character.isalnum() for character in text):
                pieces.append(_Piece(text, sentence, _tokens(text)))
        if match:
            start = match.end()
            sentence += is_end
    return pieces + [_Piece(said, number, _tokens(said)) for said, number in asides]


def _says_nothing(text: str) -> bool:
    """Say whether a piece belongs to the next one: “Mill, by contrast, …”, “In the north, …”."""
    is_said = FINITE.search(text.lower()) or any(character.isdigit() for character in text)
    return not is_said and not _HAN.search(text)


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(stem(m.group()) if m.group().isascii() else m.group(), m.start(), m.end())
        for m in _TOKEN.finditer(fold(text))
        if m.group()[0].isalnum()
    ]


def _shown(text: str, tokens: Sequence[_Token]) -> str:
    return text[tokens[0].start : tokens[-1].end] if tokens else ""


def _widened(tokens: Sequence[_Token], start: int, end: int) -> list[Sequence[_Token]]:
    """Return the tokens; a single Chinese character once with each neighbour: 脂 of 低脂饮食."""
    if end - start > 1 or not _HAN.match(tokens[start].key):
        return [tokens[start:end]]
    pairs = [tokens[start - 1 : end], tokens[start : end + 1]] if start else [tokens[:2]]
    return [pair for pair in pairs if len(pair) == 2 and pair[0].end == pair[1].start]


def _is_said_otherwise(here: _Piece, old: Sequence[_Token], new: Sequence[_Token]) -> bool:
    """Say whether a replaced piece may be the same in other words: a pronoun, another verb."""
    before = _shown(here.text, old)
    if PRONOUN.search(before) or not _content(before):
        return True
    verbs = [any(FINITE.fullmatch(token.key) for token in side) for side in (old, new)]
    return all(verbs)


def _is_joined(new: Sequence[_Token], claim: str) -> bool:
    """Say whether an insertion says of two what the source says of one: “A and B rose by 3”."""
    text = _shown(claim, new)
    return (
        len(new) <= _FEW
        and (new[0].key in _JOINS or new[-1].key in _JOINS)
        and not (FINITE.search(text.lower()) or any(map(str.isdigit, text)))
        and any(map(str.isdigit, claim))
    )


def _refers(here: _Piece, start: int, other: _Piece) -> bool:
    """Say whether a noun may stand for what an earlier sentence names: “the animals”."""
    before = here.tokens[start - 1].key if start else ""
    first = here.tokens[start].key if start < len(here.tokens) else ""
    return other.sentence < here.sentence and bool(_ANAPHORS & {before, first})


def _content(text: str) -> set[str]:
    """Return what tells a text from others: its terms, numbers, ordinals and bounds, letters."""
    terms = read_terms(text)
    found = {unit for unit, weight in terms.weights.items() if weight >= _LEFT_OUT}
    found |= {f"#{number}" for number in terms.numbers}
    words = (_DENIALS.get(word, word) for word in re.findall(r"[a-z]+", fold(text)))
    found |= {word for word in words if word in _TELLING}
    return found | set(_LETTER.findall(text))


def _share(content: set[str]) -> int:
    """Return how much two texts share: of two clauses the numbers say which is meant."""
    return sum(2 if unit.startswith("#") else 1 for unit in content)


def _holds(text: str, piece: str) -> bool:
    """Say whether a text has all that a piece of the claim is made of."""
    han = _HAN_RUN.findall(piece)
    if any(run not in text for run in han):
        return False
    rest = _HAN.sub(" ", piece)
    return _content(rest) <= _content(text)


def _is_whole(piece: _Piece, claim: str, here: str) -> bool:
    """Say whether a claim leaves out nothing of a clause but what the one it follows says, too."""
    said = claim + here
    return not any(
        # Pairs of Chinese characters overlap, also over the ends of words.
        not _HAN.match(unit) or any(character not in said for character in unit)
        for unit in _content(piece.text) - _content(claim) - _content(here)
    )
