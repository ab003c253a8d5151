"""What passages say that a part of a recipe does: to which product, in which direction.

Words decide, clause by clause; nobody has read the sentences. How often they are right is counted
by `python -m benchmarks.lab_directions` (docs/laboratory.md).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from rag_assets.chunking import split_sentences
from rag_assets.judging import is_negated, read_quantities
from rag_assets.lab.chemistry import (
    LETTER,
    chemistry,
    fold,
    metals_at,
    modifiers_at,
    ratios_in,
    tells_of_doping,
)
from rag_assets.lab.differences import lab_words, products_at, without_formulas
from rag_assets.lab.runs import plain_ratio

Direction = Literal["raises", "lowers", "no effect", "names"]
# What the laboratory wants where a request names no product (specification 004, 1.3).
FIRST_PRODUCT = "C2H4"

# What a request does not want, up to where it goes on.
UNWANTED = re.compile(
    r"\b(?:without|no|not|avoid(?:ing)?|except|excluding|other than|free of)\b"
    r"(?:(?!\b(?:with|but|using|for|to|that|which)\b)[^.;:。；：])*"
    r"|(?:不含|不用|不要|避免|无|除)[^,.;:，。；：但]*",
    re.IGNORECASE,
)
_FLIPPED: dict[Direction, Direction] = {"raises": "lowers", "lowers": "raises"}
# Where a clause ends; “and” and “和” end one where either side says what changed.
_CLAUSE = re.compile(
    r"[;；：]|:(?=\s)|[,，](?!\d)|\b(?:while|whereas|but|although|though|yet|however)\b"
    r"|(?<![反从因且然])而|但|虽然",
    re.IGNORECASE,
)
_AND = re.compile(r"\band\b|[和并且]")
# What was claimed is taken back, or was looked for and is not there.
_REFUTED = re.compile(
    r"\bno (?:[\w-]+ ){0,3}?(?:C2H4|CH4|CO|ethylene|ethene|methane|product|evidence)s?\b"
    r"|\b(?:not|n't|never|neither)\b[^,;]{0,30}\b(?:detect|observ|found|reproduc|confirm|repeat|seen)"
    r"|\b(?:unable|fail\w*|attempts?) to (?:reproduce|confirm|detect|repeat|observe)|irreproducib"
    r"|undetect|below (?:the |our )?(?:limit of )?(?:detection|quantification)|\bonly traces"
    r"|art[ei]fact|contaminat|adventitious|withdrawn|retract|\bstem(?:s|med)? from|residual"
    r"|\beffect\b[^,;]*\b(?:disappear|vanish)|unfounded|mis-?(?:assign|attribut|identif)"
    r"|\bfound none\b|\bnone\b[^,;]*\bdetect|nothing (?:indicates|suggests|above the)"
    r"|\b(?:does|did|do) not\s*$"
    r"|(?:未|没有|无法|未能|不能)(?:再|被|能)?(?:检出|检测|观察|重复|重现|证实)|低于检[测出]限|污染|假象|撤回"
    r"|残留|不(?:支持|成立)|没有[^,，;；]{0,8}峰",
    re.IGNORECASE,
)
# Nobody says that it is so.
_UNCERTAIN = re.compile(
    r"\bif\b(?! anything)|\bwhether\b|\bpremature\b|\bmight\b|\bought to\b"
    r"|\b(?:intend|plan|hope|remains?) to\b|\bscope of\b"
    r"|\bhypothesi|\bspeculat|\bto be (?:examined|tested|seen|clarified)|\bfuture work"
    r"|能否|是否|尚待|有待|计划|如果|若能|推测|假设",
    re.IGNORECASE,
)
# The part that follows was not there, or there was less of it.
_ABSENT = re.compile(
    r"(?:\b(?:without|absence of|omitting|omission of|remov\w+(?: of)?|leaving out|lacking|free of"
    r"|no|(?:lower|reduc|decreas)(?:ing|ed)|less)|不加|未加|不含|无|去除|除去|去掉|没有|缺少|降低|减少)"
    r"\s*(?:the |any |added )?$",
    re.IGNORECASE,
)
_MORE_OF = re.compile(
    r"(?:\b(?:increas|rais)(?:ing|ed)|\bmore|\bexcess|过量的?|增加)\s*(?:the )?$", re.IGNORECASE
)
_ITS_ABSENCE = re.compile(r"\bin (?:its|their) absence|\bwithout (?:it|them)\b", re.IGNORECASE)
# The part that follows is what is compared with.
_COMPARED = re.compile(
    r"\b(?:than|versus|vs\.?|compared (?:with|to)|relative to|instead of|rather than|in place of"
    r"|outperform\w*|surpass\w*|superior to|unlike|replac\w+|swap\w*)\b"
    r"|比|优于|高于|而不是|与(?=.{1,20}相比)",
    re.IGNORECASE,
)
# What replaces it is no rival: “replacing Zn with Mn”, “swapping glycine for alanine”.
_REPLACED = re.compile(r"replac|swap", re.IGNORECASE)
_FOR = re.compile(r"\b(?:with|for|by)\b|[,，]", re.IGNORECASE)
_PREFERRED_TO = re.compile(
    r"\b(?:over|at the expense of|rather than|instead of)\b|而不是", re.IGNORECASE
)
_REPEATS = re.compile(
    r"\bn\s*=\s*(\d+)|\b(\d+|two|three|four|five|six)\s+(?:\w+\s+)?(?:replicate|repeat|run|batch|experiment)"
    r"|(?:平行|重复)\D{0,4}(\d+)\s*次",
    re.IGNORECASE,
)
# What joins two metals to one dopant: Cu–Mo, Cu/Mo, copper and molybdenum, 铜和钼.
_JOINED = re.compile(r"\s*(?:[-–—/+&·]|and|和|与|、)?\s*")
# A limit of detection, or what becomes less is none of the products.
_NO_WORD_OF_LESS = re.compile(
    r"detection limits?|limits? of detection|检[测出]限"
    r"|\b(?:lower|reduc|decreas|rais|increas|shrink|narrow|shorten|widen|extend)\w*"
    r" (?:[\w-]+ ){0,3}?"
    r"(?:barrier|overpotential|band ?gap|gap|lifetime|recombination|absorption|surface area)",
    re.IGNORECASE,
)
_NUMBER = r"(\d+(?:\.\d+)?)(?:\s?±\s?\d+(?:\.\d+)?)?"
_BETWEEN = r"(?:\s?(?:%|[µμm]?mol[^,;()]{0,16}?))?"
_FROM_TO = re.compile(
    rf"(?:from|从)\s*{_NUMBER}{_BETWEEN}\s*(?:to|到|至)\s*{_NUMBER}"
    rf"|{_NUMBER}{_BETWEEN}\s*→\s*{_NUMBER}|{_NUMBER} before\W+{_NUMBER}"
)
_AGAINST = re.compile(
    rf"{_NUMBER}{_BETWEEN}\W*(?:as against|against|versus|vs\.?|compared (?:with|to)|instead of)"
    rf"(?: only| just| about)? {_NUMBER}"
)
# Two numbers are the same where they differ by less than such a share.
_SAME_SHARE = 0.1
# *CO and its dimer are no product that is measured.
_BOUND_CO = re.compile(r"[\s-]?(?:dimer|intermediate|adsor|coupling|binding)", re.IGNORECASE)
# Two metals that are written as one dopant, where one letter alone may be a word.
_WRITTEN_PAIR = re.compile(
    r"(?<![A-Za-z0-9])([A-Z][a-z]?)\s?[-–—/:·]\s?([A-Z][a-z]?)(?![A-Za-z0-9])"
)
# “5.2 µmol g-1” of “5.2 µmol g-1 h-1”.
_UNIT_GOES_ON = re.compile(r"(?:\s?[·/]?\s?[a-zA-Z]{1,4}(?:\s?[-−⁻]\s?[1-3¹²³])+)*")
_BARE_RATIO = re.compile(r"(?<![\d.:])(\d+(?:\.\d+)?:\d+(?:\.\d+)?)(?![\d.:])")
# “Co-doping TiO2 with Cu and Mo” names no cobalt.
_CO_DOPING = re.compile(r"Co-(?:dop|load|deposit)")
_GOES_ON = re.compile(
    r"(?:It|This|These|They|However|But|Yet|Instead|Unfortunately|Here)\b|[它其这但]|然而|不过"
)


_PRODUCT_ACIDS = frozenset({"formic acid"})
# So many characters before a product may say that another one is preferred to it.
_PREFERENCE = 24
# So many characters between a word of less and the product that it is said of.
_BOUND = 6


@dataclass(frozen=True, slots=True)
class Finding:
    """What one clause says of one part.

    Args:
        part: `Cu`, `Cu + Mo`, `Cu:Mo = 2:1`, `glycine`.
        product: its formula; empty where none is named, so that activity at large is meant.
        direction: what the part does to the product; `names` where nothing is said of it.
        value: number and unit as printed; empty where there is none.
        n: how many experiments, as printed.
        sentence: word for word but for white space.
        citation: of the source; empty before one is known.
    """

    part: str
    product: str
    direction: Direction
    value: str
    n: str
    sentence: str
    citation: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    name: str


def read_findings(text: str, *, everything: bool = False) -> Iterator[Finding]:
    """Yield what the sentences of a text say of metals, pairs, ratios and modifiers.

    Args:
        everything: metals count whatever the text tells of, as in a lesson of a laboratory.
    """
    counts_metals = everything or tells_of_doping(text)
    ends = [match.end() for match in re.finditer(r"^#.*\n|\n\s*\n", text, re.MULTILINE)]
    subject: tuple[str, ...] = ()
    for start, end in split_sentences(text, ends):
        written = " ".join(text[start:end].split())
        if not written or written.startswith("#"):
            continue
        sentence = fold(written)
        carried = subject if _GOES_ON.match(sentence) else ()
        found = list(_read_sentence(sentence, carried, counts_metals=counts_metals))
        subject = tuple(dict.fromkeys(one.part for one in found)) or subject
        moved = {one.part for one in found if one.direction != "names"}
        for one in dict.fromkeys(found):
            if one.direction != "names" or one.part not in moved:
                yield replace(one, sentence=written)


def _read_sentence(
    sentence: str, subject: tuple[str, ...], *, counts_metals: bool
) -> Iterator[Finding]:
    parts = [
        *(_dopants(sentence) if counts_metals else ()),
        *map(_place, modifiers_at(sentence, anywhere=True)),
    ]
    parts, products = _apart(parts, sentence)
    sentence, absent = _without_amounts(sentence, parts)
    marks = [] if _UNCERTAIN.search(sentence) else _marks(sentence)
    repeats = _REPEATS.search(sentence)
    n = next(filter(None, repeats.groups()), "") if repeats else ""
    only = {one.name for one in products}
    rivals: set[str] = set()
    context: tuple[str, ...] = ()
    for start, end in _clauses(sentence, marks):
        clause = sentence[start:end]
        own = [one for one in parts if start <= one.start < end]
        named = [one for one in products if start <= one.start < end]
        moved = [one for one in marks if start <= one.start < end]
        moved = moved or (_by_numbers(clause, start) if len(only) == 1 or named else [])
        # “Compared with Cu–Zn, …”: what is said next is said against it.
        rivals |= _rivals(sentence, start, end, own)
        told = tuple(dict.fromkeys(one.name for one in own if one.name not in rivals))
        # What happened without a part is said of that part alone.
        gone_now = tuple(one for one in told if one in absent)
        subject = gone_now or tuple(dict.fromkeys((*context, *told))) or subject
        if not moved:
            # “With glycine at the nodes, Cu–Mo gave more”: it is said of both.
            context = told
            for name in told:
                for product in {one.name for one in named} or {""}:
                    value = _value(clause) if named else ""
                    yield Finding(name, product, "names", value, n, sentence)
            continue
        context = ()
        # “… raised ethylene, but Cu–Zn lowered it”.
        for given in named or [_Place(-1, -1, next(iter(only)) if len(only) == 1 else "")]:
            direction = _direction(clause, start, given, named, moved)
            turned = _FLIPPED.get(direction, direction)
            is_turned = _ITS_ABSENCE.search(clause) is not None
            for name in subject:
                shown = turned if name in absent or is_turned else direction
                yield Finding(name, given.name, shown, _value(clause), n, sentence)
            for name in sorted(rivals) if turned != direction else ():
                yield Finding(name, given.name, turned, "", n, sentence)


def _without_amounts(sentence: str, parts: Sequence[_Place]) -> tuple[str, set[str]]:
    """Return a sentence without what says how much of a part there is, and the parts of which
    there is none or less.
    """
    absent: set[str] = set()
    for one in parts:
        gone = _ABSENT.search(sentence, 0, one.start)
        if said := gone or _MORE_OF.search(sentence, 0, one.start):
            sentence = sentence[: said.start()] + " " * len(said.group()) + sentence[said.end() :]
        if gone:
            absent.add(one.name)
    return sentence, absent


def _apart(parts: list[_Place], sentence: str) -> tuple[list[_Place], list[_Place]]:
    """Return the parts and the products of a sentence: formic acid may be either."""
    products = [
        _place(one)
        for one in products_at(sentence)
        if sentence[one[0] - 1 : one[0]] != "*"
        and not (one[2] == "CO" and _BOUND_CO.match(sentence, one[1]))
    ]
    others = [one for one in parts if one.name not in _PRODUCT_ACIDS]
    if others or not parts:
        return others, products
    places = {one.start for one in parts}
    return parts, [one for one in products if one.start not in places]


def _by_numbers(clause: str, start: int) -> list[_Place]:
    """Return what two numbers of a clause on a product say: from 22 to 64 %, 16 against 9.9."""
    pairs = [
        (first, second) if number == 0 else (second, first)
        for number, pattern in enumerate((_FROM_TO, _AGAINST))
        for first, second in (
            map(float, filter(None, match.groups())) for match in pattern.finditer(clause)
        )
    ]
    if len(pairs) != 1:
        return []
    before, after = pairs[0]
    if abs(after - before) <= _SAME_SHARE * max(after, before):
        return [_Place(start, start, "none")]
    return [_Place(start, start, "up" if after > before else "down")]


def _rivals(sentence: str, start: int, end: int, own: Sequence[_Place]) -> set[str]:
    """Return the parts with which a clause compares others."""
    behind = _COMPARED.search(sentence, start, end)
    if behind is None:
        return set()
    stop = _FOR.search(sentence, behind.end(), end) if _REPLACED.match(behind.group()) else None
    until = stop.start() if stop else end
    return {one.name for one in own if behind.start() <= one.start < until}


def _direction(
    clause: str, start: int, product: _Place, named: Sequence[_Place], moved: Sequence[_Place]
) -> Direction:
    """Return what a clause says of a product; the nearest word of more or less decides."""
    if any(one.name == "refuted" for one in moved):
        return "no effect"
    at = product.start if product.start >= 0 else start + len(clause)
    nearest = min(moved, key=lambda one: (abs(one.start - at), one.start > at))
    direction: Direction = "raises" if nearest.name == "up" else "lowers"
    # 不利 and “in its absence” deny nothing, nor does what stands behind “better than”.
    rest = clause[: nearest.start - start] + " " + clause[nearest.end - start :]
    rest = _COMPARED.split(_ITS_ABSENCE.sub(" ", rest))[0]
    if nearest.name == "none" or is_negated(rest):
        return "no effect"
    # “CO and hardly any ethylene”: it is said of ethylene alone.
    bound = [one for one in named if 0 <= one.start - nearest.end <= _BOUND]
    if product.start < nearest.start and bound and product not in bound:
        return "names"
    before = clause[: max(product.start - start, 0)]
    is_rival = _PREFERRED_TO.search(before[-_PREFERENCE:]) is not None
    return _FLIPPED[direction] if is_rival else direction


def _clauses(sentence: str, marks: Sequence[_Place]) -> Iterator[tuple[int, int]]:
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(sentence)), len(sentence)]
    for start, end in pairwise(cuts):
        inner = [start]
        for match in _AND.finditer(sentence, start, end):
            sides = ((inner[-1], match.start()), (match.end(), end))
            if all(any(low <= one.start < high for one in marks) for low, high in sides):
                inner.append(match.end())
        yield from pairwise([*inner, end])


def _marks(sentence: str) -> list[_Place]:
    words = lab_words()
    plain = words.reaction.sub(lambda match: " " * len(match.group()), sentence.lower())
    # The longest word that begins somewhere: “not affect” is no “affect”.
    known = {**words.effects, "refuted": (_REFUTED,), "": (_NO_WORD_OF_LESS,)}
    found = sorted(
        (match.start(), -match.end(), name)
        for name, patterns in known.items()
        for pattern in patterns
        for match in pattern.finditer(plain)
    )
    marks: list[_Place] = []
    for start, end, name in found:
        if not marks or start >= marks[-1].end:
            marks.append(_Place(start, -end, name))
    return [one for one in marks if one.name]


def _dopants(sentence: str) -> Iterator[_Place]:
    """Yield pairs of metals that are one dopant, ratios, and metals that stand alone."""
    dopants = chemistry().metals - chemistry().host
    metals = metals_at(sentence)
    for match in _WRITTEN_PAIR.finditer(sentence):
        if {match[1], match[2]} <= dopants:
            metals += [(*match.span(1), match[1]), (*match.span(2), match[2])]
    metals += [(*match.span(), match[1]) for match in LETTER.finditer(sentence)]
    metals = sorted(set(metals))
    if _CO_DOPING.match(sentence) and len({symbol for _, _, symbol in metals}) > 2:
        metals = metals[1:]
    ratios = ratios_in(sentence, list(dict.fromkeys(symbol for _, _, symbol in metals)))
    place = 0
    paired = {metal for pair in ratios for metal in pair}
    while place < len(metals):
        start, end, first = metals[place]
        following = metals[place + 1] if place + 1 < len(metals) else None
        is_pair = (
            following is not None
            and following[2] != first
            and (following[0] <= end or _JOINED.fullmatch(sentence, end, following[0]))
        )
        if following is not None and is_pair:
            paired |= {first, following[2]}
            yield _Place(start, following[1], pair_name(first, following[2]))
            place += 2
        else:
            if first not in paired:
                yield _Place(start, end, first)
            place += 1
    for (first, second), ratio in ratios.items():
        start, end = next(one[:2] for one in metals if one[2] == first)
        yield _Place(start, end, ratio_name(first, second, ratio))
        for match in _BARE_RATIO.finditer(sentence, end):
            if match[1] != ratio:
                yield _Place(*match.span(), ratio_name(first, second, match[1]))


def pair_name(first: str, second: str) -> str:
    """Return what a pair of metals is called, in whichever order it is written."""
    return " + ".join(sorted((first, second)))


def ratio_name(first: str, second: str, ratio: str) -> str:
    """Return what a ratio of two metals is called, in whichever order it is written."""
    if first > second:
        first, second, ratio = second, first, ":".join(reversed(ratio.split(":")))
    return f"{first}:{second} = {plain_ratio(ratio)}"


def _place(found: tuple[int, int, str]) -> _Place:
    return _Place(*found)


def _value(clause: str) -> str:
    """Return the last number with a unit of a clause: of “from 12 to 34 %” where it led to."""
    plain = _REPEATS.sub(lambda match: " " * len(match.group()), without_formulas(clause))
    found = [one.text for one in read_quantities(plain) if one.unit.kind or one.unit.name]
    if not found:
        return ""
    behind = _UNIT_GOES_ON.match(plain, plain.rfind(found[-1]) + len(found[-1]))
    return found[-1] + (behind.group() if behind else "")


# The laboratory's own results count beside the literature: so many sources for a recipe that was
# made of all three parts, one for a part alone.
_WHOLE_RECIPE = 2


@dataclass(frozen=True, slots=True)
class OwnResult:
    """What a recipe that was made here gave.

    Args:
        run: its id; `recipe` as it was made.
        parts: `Cu + Mo`, `Cu:Mo = 2:1`, `glycine`.
        score: as it was given.
        value: of the product that is asked for, `fraction` its share; None where not measured.
        compared: 1 where it did better than the mean of the other runs, -1 worse, else 0; by the
            fraction where it and another were measured, else by the score.
    """

    run: str
    recipe: str
    parts: tuple[str, ...]
    score: float
    value: float | None
    fraction: float | None
    compared: int

    def describe(self, product: str) -> str:
        """Say what it gave in a few words."""
        share = f", {product} {self.value:g}" if self.value is not None else ""
        share += f" (fraction {self.fraction:.3f})" if self.fraction is not None else ""
        than = {1: ", better than the mean", -1: ", worse than the mean"}.get(self.compared, "")
        return f"score {self.score:g}{share}{than}"


@dataclass(frozen=True, slots=True)
class PartEvidence:
    """What is known of one part, for one product.

    Args:
        raising, against: documents, and items of experience, that say that it raises the product;
            that it lowers it or does nothing to it.
        on: findings on that product or on activity at large, `other` on other products.
        here: results of recipes with this part.
    """

    part: str
    raising: int
    against: int
    on: tuple[Finding, ...]
    other: tuple[Finding, ...]
    here: tuple[OwnResult, ...]

    @property
    def net(self) -> int:
        """For less against, with what was seen here."""
        return self.raising - self.against + sum(one.compared for one in self.here)

    def speaking(self, *, is_for: bool) -> list[Finding]:
        """Return the findings that speak for the part, or those against it."""
        return [one for one in self.on if (one.direction == "raises") == is_for]

    def describe(self) -> str:
        """Say it in a few words."""
        said = f"{self.part}: {self.raising} for, {self.against} against"
        better = sum(one.compared > 0 for one in self.here)
        worse = sum(one.compared < 0 for one in self.here)
        return said + (f", made here {better} better and {worse} worse than the mean"
                       if better or worse else "")  # fmt: skip


def requested_product(text: str) -> str:
    """Return the product that a request names first, apart from those that it does not want."""
    named = products_at(UNWANTED.sub(" ", fold(text)))
    return named[0][2] if named else FIRST_PRODUCT


def own_results(made: Sequence[Mapping[str, Any]], product: str) -> list[OwnResult]:
    """Return what was made here, compared by one product.

    Args:
        made: by `LabLibrary.results`: run, recipe, parts, score, products by formula or name.
    """
    shares = {one["run"]: _measured(one, product) for one in made}
    known = {run: share[1] for run, share in shares.items() if share is not None}
    found = []
    for one in made:
        run, share = str(one["run"]), shares[one["run"]]
        own = known.get(run)
        others = [value for other, value in known.items() if other != run]
        if own is None or not others:
            own = float(one["score"])
            others = [float(each["score"]) for each in made if each["run"] != run]
        mean = sum(others) / len(others) if others else own
        value, fraction = share or (None, None)
        found.append(OwnResult(
            run, str(one["recipe"]), tuple(one["parts"]), float(one["score"]), value, fraction,
            (own > mean) - (own < mean),
        ))  # fmt: skip
    return found


def _measured(made: Mapping[str, Any], product: str) -> tuple[float, float] | None:
    for name, (value, fraction) in made["products"].items():
        if any(found[2] == product for found in products_at(name)):
            return float(value), float(fraction)
    return None


def weigh_evidence(
    findings: Iterable[tuple[str, Finding]], results: Sequence[OwnResult], product: str
) -> tuple[PartEvidence, ...]:
    """Return what speaks for and against each part, the best supported first.

    Args:
        findings: each with the document that it is from: one says a thing once.
        results: `own_results`.
        product: that is asked for.
    """
    by_part: dict[str, list[tuple[str, Finding]]] = defaultdict(list)
    for document, one in findings:
        by_part[one.part].append((document, one))
    for result in results:
        for part in result.parts:
            by_part.setdefault(part, [])
    rows = []
    for part, own in by_part.items():
        here = tuple(one for one in results if part in one.parts)
        moved = [(document, one) for document, one in own if one.direction != "names"]
        # What raises or poisons activity at large does so to this product too.
        on = [(document, one) for document, one in moved if one.product in {product, ""}]
        other = tuple(one for _, one in moved if one.product not in {product, ""})
        if on or other or here:
            raising = {document for document, one in on if one.direction == "raises"}
            against = {document for document, one in on if one.direction != "raises"}
            told = tuple(one for _, one in on)
            rows.append(PartEvidence(part, len(raising), len(against), told, other, here))
    return tuple(sorted(rows, key=lambda row: (-row.net, row.part)))


def support_of(
    rows: Mapping[str, PartEvidence], pair: str, singles: Sequence[str], modifier: str
) -> tuple[int, str]:
    """Return how well a combination is supported, and why in a sentence.

    Evidence on the pair and on the modifier counts twice that on a metal alone.
    """
    named = [rows[part] for part in (pair, modifier, *singles) if part in rows]
    score = sum((2 if row.part in {pair, modifier} else 1) * row.net for row in named)
    whole = [one for one in rows[pair].here if modifier in one.parts] if pair in rows else []
    score += _WHOLE_RECIPE * sum(one.compared for one in whole)
    said = [row.describe() for row in named]
    said += [f"made here in run {one.run}: score {one.score:g}" for one in whole]
    return score, "; ".join(said) or "nothing found speaks for or against its parts"
