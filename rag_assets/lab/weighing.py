"""Whether the words that a recipe's grounds cite say what the grounds say.

A reader that did not write them reads the grounds; whatever it says, a program looks for their
numbers, metals, molecules and quotations in the sources cited. Nothing is refused by it: an
experimenter is told which grounds are supported, which are not with certainty, and which nobody
has read.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.judging import check_facts, read_quantities
from rag_assets.lab.chemistry import chemistry, name_parts
from rag_assets.lab.differences import PRODUCTS, contradict, named_substances
from rag_assets.lab.runs import Ground, Recipe, Support, Verdict
from rag_assets.lab.trace import Source
from rag_assets.model import RagError, hide_credentials, is_chinese

if TYPE_CHECKING:
    from rag_assets.answering.agents import Passage
    from rag_assets.answering.agents.statements import CheckedStatement
    from rag_assets.judging import Scorer
    from rag_assets.lab.engine import RunState

WORD_FOR_WORD = "word for word"
PROGRAM_CHECK = "program: numbers, metals, molecules"
_COLLECTED = re.compile(r'"(.+)"( …)?', re.DOTALL)
# Three words between quotation marks are a quotation; fewer may be a term.
_QUOTED = re.compile(r'["“「](\S+(?:\s+\S+){2,}?|[^"”」]{6,})["”」]')
# A locant and an exponent are no measured numbers: 4-aminobenzoic, h⁻¹.
_NO_NUMBER = re.compile(r"\d[\d,']*-(?=[A-Za-z])|(?<=[A-Za-z])\s?[-−⁻]\s?\d\b")


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A ground's statement with the sources that it cites, one at least.

    Args:
        part: the recipe's value that it is the ground of; empty for the whole recipe, and where
            the ground is no more than reasoning.
    """

    text: str
    sources: tuple[Source, ...]
    part: str = ""


Weigh = Callable[[Sequence[CitedStatement]], list[Support]]


def weigh_grounds(
    state: "RunState", recipes: Sequence[Recipe], *, is_over: bool
) -> tuple[Recipe, ...]:
    """Return recipes whose cited grounds say whether they are supported; the trace is told.

    A ground keeps the citations that hold it, where any does.

    Args:
        is_over: whether the run has no time left: then nobody reads.
    """
    cited = [
        (recipe.rank, place, CitedStatement(
            ground.statement, tuple(state.bound[c] for c in ground.citations),
            _part(recipe, ground),
        ))
        for recipe in recipes
        for place, ground in enumerate(recipe.grounds)
        if ground.citations
    ]  # fmt: skip
    claims = [claim for _, _, claim in cited]
    found: list[Support] = []
    if state.job.policy == "collect":
        found = [_weigh_quote(claim) for claim in claims]
    elif is_over:
        found = [_unread("the run had no time left.") for _ in claims]
    elif claims:
        read = state.world.weigh(state.trace.next_seq, claims)
        if read is None:
            state.require_going()
            raise AssertionError("only a run that is canceled leaves its grounds unread")
        found = read
    by_place = {
        (rank, place): support
        for (rank, place, _), support in zip(cited, found, strict=True)
    }  # fmt: skip
    if claims:
        state.trace.add(
            "weighed",
            verdicts=[
                {"recipe": rank, "ground": place, **support.model_dump(mode="json")}
                for (rank, place), support in by_place.items()
            ],
        )
    return tuple(
        recipe.model_copy(update={"grounds": tuple(_weighed(recipe, by_place))})
        for recipe in recipes
    )


def _part(recipe: Recipe, ground: Ground) -> str:
    if ground.basis == "reasoning" or ground.field is None:
        return ""
    value = getattr(recipe, ground.field)
    return str(getattr(value, "name", value))


def _weighed(recipe: Recipe, found: Mapping[tuple[int, int], Support]) -> Iterator[Ground]:
    for place, ground in enumerate(recipe.grounds):
        support = found.get((recipe.rank, place))
        others = (one.statement for one in recipe.grounds if one is not ground)
        yield ground.model_copy(
            update={
                "support": support,
                "citations": support.holding if support and support.holding else ground.citations,
                "contradicted_by": tuple(
                    dict.fromkeys(one for one in others if contradict(ground.statement, one))
                ),
            }
        )


def _weigh_quote(claim: CitedStatement) -> Support:
    """Say whether a collected quote stands in what it cites; white space alone does not count."""
    quoted = _COLLECTED.fullmatch(claim.text)
    if quoted is None:
        return Support(verdict="not_judged", reason="It is counted, and no quotation.")
    words = quoted[1]
    holding = _holding_words(claim, words)
    return Support(
        verdict="not_judged" if holding else "not_supported",
        reason="It is there word for word. Whether it speaks for the candidate or against it, "
        "nobody has read." if holding else "It is not there word for word.",
        by=WORD_FOR_WORD, score=1.0 if holding else 0.0,
        citation=(holding or [one.citation for one in claim.sources])[0],
        quote=words if holding else "", holding=tuple(holding),
    )  # fmt: skip


def _shown(source: Source) -> str:
    # Of a lesson the recipe that was made stands beside its text.
    return f"{source.text}\n{source.where}" if source.taught_by else source.text


def _holding_words(claim: CitedStatement, words: str) -> list[str]:
    pattern = re.compile(r"\s+".join(map(re.escape, words.split())))
    return [one.citation for one in claim.sources if pattern.search(_shown(one))]


def _check(claim: CitedStatement, sources: Sequence[Source]) -> str:
    """Return what a program finds missing in sources of what a ground says; empty for nothing."""
    texts = [_shown(source) for source in sources]
    together = "\n".join(texts)
    plain = _NO_NUMBER.sub(" ", claim.text)
    against = check_facts(plain, texts, "against")
    if against:
        return against[0].text
    agreeing = {sign.claim for sign in check_facts(plain, texts, "for")}
    numbers = [one.text for one in read_quantities(plain) if re.search(r"\d", one.text)]
    missing = [number for number in numbers if number not in agreeing]
    if missing:
        return f"No source cited has {missing[0]}."
    # Units are no metals (K, V); locants are of a molecule's name.
    named = claim.text
    for number in numbers:
        named = re.sub(rf"{re.escape(number)}(?!-[A-Za-z])", " ", named)
    unnamed = sorted(_substances(named) - _substances(together))
    if unnamed:
        return f"No source cited names {unnamed[0]}."
    for quoted in _QUOTED.finditer(claim.text):
        if not _holding_words(replace(claim, sources=tuple(sources)), quoted[1]):
            return f"No source cited has the words “{quoted[1]}”."
    if claim.part and not _names(together, claim.part):
        return f"No source cited names {claim.part}."
    return ""


def _substances(text: str) -> set[str]:
    """Return the dopants and molecules that a text names, each by one name."""
    known = chemistry()
    return {
        one.removeprefix("molecule:")
        for one in named_substances(text)
        if one in known.metals - known.host or one.startswith("molecule:") or one in PRODUCTS
    }


def _names(text: str, part: str) -> bool:
    """Say whether a text names a value of a recipe: a metal, a modifier, a ratio."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if re.fullmatch(r"[\d.]+:[\d.]+", part):
        written = name_parts(text, everything=True).ratios.values()
        ways = {part, ":".join(reversed(part.split(":")))}
        return bool(ways & set(written)) or any(
            re.search(rf"(?<![\d.]){one.replace(':', ' ?[:∶] ?')}(?!\.?\d)", plain) for one in ways
        )
    return part.casefold() in plain or bool(_substances(part) & _substances(text))


class ScorerWeigh:
    """Holds statements against what they cite as answers are held: by a scorer of citations.

    Args:
        open_scorer: returns it; it is opened when there is something to read.
    """

    def __init__(self, open_scorer: "Callable[[], Scorer]") -> None:
        self._open_scorer = open_scorer

    def __call__(self, claims: Sequence[CitedStatement]) -> list[Support]:
        """Return what was found of each. Where nobody can read them, they say so."""
        from rag_assets.answering.agents.statements import Claim, ScorerJudge

        try:
            scorer = self._open_scorer()
            judged = ScorerJudge(scorer).judge(
                [
                    Claim(number, claim.text, tuple(s.citation for s in claim.sources),
                          tuple(map(_passage, claim.sources)))
                    for number, claim in enumerate(claims, start=1)
                ]
            )  # fmt: skip
        except RagError as error:
            # Recipes that were made are not lost because nobody can read their sources.
            return [_unread(hide_credentials(str(error))) for _ in claims]
        by = str(getattr(getattr(scorer, "reader", None), "name", scorer.name))
        return [_support(claim, one, by) for claim, one in zip(claims, judged, strict=True)]


def _support(claim: CitedStatement, read: "CheckedStatement", by: str) -> Support:
    """Return what a reader and the program found of a ground; the program has the last word."""
    is_read = read.reason_code not in {"unread", "states_nothing"}
    quote = read.quote.text if read.quote is not None else ""
    citation = read.quote.citation_id if read.quote is not None else None
    shown = quote or " ".join(source.text for source in claim.sources)
    verdict: Verdict = "supported" if read.is_supported else "not_supported"
    found = Support(
        verdict=verdict if is_read else "not_judged",
        reason=" ".join(filter(None, (read.reason, read.note))),
        by=by if is_read else "", score=read.score if is_read else None,
        citation=citation, quote=quote, other_language=is_chinese(claim.text) != is_chinese(shown),
    )  # fmt: skip
    missing = _check(claim, claim.sources)
    if missing:
        changes = {"verdict": "not_supported", "reason": missing, "by": PROGRAM_CHECK, "score": 0.0}
        return found.model_copy(update=changes)
    holding = [one.citation for one in claim.sources if not _check(claim, [one])]
    if found.verdict == "supported" and citation in holding:
        # The words that decide stand there; others are kept where they say it in the same words.
        holding = [one for one in _holding_words(claim, quote) if one in holding] or [citation]
    return found.model_copy(update={"holding": tuple(holding)})


def _passage(source: Source) -> "Passage":
    from rag_assets.answering.agents import Passage

    # Each source is a document of its own: a trace does not say where in one it stands.
    return Passage(
        namespace=source.base, doc_uid=source.citation, chunk_id=source.chunk_id,
        citation_id=source.citation, content_hash=source.content_hash, title=source.title,
        section_path=(), section_category=None, page_start=None, page_end=None, char_start=0,
        char_end=len(source.text), text=source.text, score=source.score,
    )  # fmt: skip


def _unread(why: str) -> Support:
    return Support(verdict="not_judged", reason=f"Nobody has read it: {why}")
