"""Whether the words that a recipe's grounds cite say what the grounds say.

Nothing is refused by it: an experimenter is told which grounds are supported, which are not with
certainty, and which nobody has read.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.lab.orchestrating.sources import Source
from rag_assets.lab.store import Recipe, Support
from rag_assets.model import RagError, hide_credentials, is_chinese

if TYPE_CHECKING:
    from rag_assets.judging import Scorer
    from rag_assets.lab.orchestrating.engine import RunState

WORD_FOR_WORD = "word for word"
_QUOTED = re.compile(r'"(.+)"( …)?', re.DOTALL)
_NO_QUOTE = Support(
    verdict="not_judged",
    reason="It says what the rules counted; it is no quote, and nobody has read the sources for "
    "it.",
)


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A ground's statement with the sources that it cites, one at least."""

    text: str
    sources: tuple[Source, ...]


Weigh = Callable[[Sequence[CitedStatement]], list[Support]]


def weigh_grounds(
    state: "RunState", recipes: Sequence[Recipe], *, is_over: bool
) -> tuple[Recipe, ...]:
    """Return recipes whose cited grounds say whether they are supported; the trace is told.

    Args:
        is_over: whether the run has no time left: then nobody reads.
    """
    cited = [
        (recipe.rank, place, CitedStatement(ground.statement, _sources(state, ground.citations)))
        for recipe in recipes
        for place, ground in enumerate(recipe.grounds)
        if ground.citations
    ]
    claims = [claim for _, _, claim in cited]
    if not claims:
        return tuple(recipes)
    if state.job.policy == "rules":
        found = [_weigh_quote(claim) for claim in claims]
    elif is_over:
        found = [_unread("the run had no time left.") for _ in claims]
    else:
        found = state.world.weigh(state.trace.next_seq, claims)
    by_place = {
        (rank, place): support
        for (rank, place, _), support in zip(cited, found, strict=True)
    }  # fmt: skip
    state.trace.add(
        "weighed",
        verdicts=[
            {"recipe": rank, "ground": place, **support.model_dump(mode="json")}
            for (rank, place), support in by_place.items()
        ],
    )
    return tuple(
        recipe.model_copy(
            update={
                "grounds": tuple(
                    ground.model_copy(update={"support": by_place.get((recipe.rank, place))})
                    for place, ground in enumerate(recipe.grounds)
                )
            }
        )
        for recipe in recipes
    )


def _sources(state: "RunState", citations: Sequence[str]) -> tuple[Source, ...]:
    return tuple(state.bound[citation] for citation in citations)


def _weigh_quote(claim: CitedStatement) -> Support:
    """Say whether a quote stands in what it cites; white space alone does not count."""
    quoted = _QUOTED.fullmatch(claim.text)
    if quoted is None:
        return _NO_QUOTE
    words = re.compile(r"\s+".join(map(re.escape, quoted[1].split())))
    for source in claim.sources:
        # Of a lesson the recipe that was made stands beside its text.
        texts = (source.text, source.where) if source.taught_by else (source.text,)
        for text in texts:
            found = words.search(text)
            if found is not None:
                return Support(
                    verdict="supported", reason="It stands there word for word.",
                    by=WORD_FOR_WORD, score=1.0, citation=source.citation, quote=found[0],
                )  # fmt: skip
    return Support(
        verdict="not_supported", reason="It does not stand there word for word.",
        by=WORD_FOR_WORD, score=0.0, citation=claim.sources[0].citation,
    )  # fmt: skip


class ScorerWeigh:
    """Holds statements against what they cite as answers are held: by a scorer of citations.

    Args:
        open_scorer: returns it; it is opened when there is something to read.
    """

    def __init__(self, open_scorer: "Callable[[], Scorer]") -> None:
        self._open_scorer = open_scorer

    def __call__(self, claims: Sequence[CitedStatement]) -> list[Support]:
        """Return what was found of each. Where nobody can read them, they say so."""
        from rag_assets.agents.statements import Claim, ScorerJudge

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
        found = []
        for claim, one in zip(claims, judged, strict=True):
            read = one.reason_code not in {"unread", "states_nothing"}
            quote = one.quote.text if one.quote is not None else ""
            verdict = "supported" if one.is_supported else "not_supported"
            found.append(
                Support(
                    verdict=verdict if read else "not_judged",
                    reason=" ".join(filter(None, (one.reason, one.note))),
                    by=by if read else "", score=one.score if read else None,
                    citation=one.quote.citation_id if one.quote is not None else None,
                    quote=quote,
                    other_language=_in_another_language(claim, quote),
                )
            )  # fmt: skip
        return found


def _in_another_language(claim: CitedStatement, quote: str) -> bool:
    shown = quote or " ".join(source.text for source in claim.sources)
    return is_chinese(claim.text) != is_chinese(shown)


def _passage(source: Source) -> "Passage":
    from rag_assets.agents import Passage

    # Each source is a document of its own: a trace does not say where in one it stands.
    return Passage(
        namespace=source.base, doc_uid=source.citation, chunk_id=source.chunk_id,
        citation_id=source.citation, content_hash=source.content_hash, title=source.title,
        section_path=(), section_category=None, page_start=None, page_end=None, char_start=0,
        char_end=len(source.text), text=source.text, score=source.score,
    )  # fmt: skip


def _unread(why: str) -> Support:
    return Support(verdict="not_judged", reason=f"Nobody has read it: {why}")


if TYPE_CHECKING:
    from rag_assets.agents import Passage
