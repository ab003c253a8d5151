"""What the index holds on an assertion: passages that support it, and some that speak against."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Protocol

from rag_assets.auditing.asking import stating_sentences
from rag_assets.auditing.claims.deciding import bearing_of
from rag_assets.auditing.claims.record import Bearing, FoundPassage, SuggestedQuery
from rag_assets.auditing.claims.stating import spans_that_state
from rag_assets.auditing.result_store import ResultStore
from rag_assets.chunking import split_sentences
from rag_assets.evidence.locating import locate
from rag_assets.evidence.wording import content_units, coverage, suggest_query
from rag_assets.judging import Judgement, PassageText, Scorer, Sign, name_context, term_weight
from rag_assets.model import hash_fields
from rag_assets.retrieval import Hit
from rag_assets.workspace import Workspace

# Part of the key of what is kept: raise it when the same question may be answered otherwise.
SEARCH_VERSION = 4
# Content words of the shorter query: those that tell most.
_TELLING_WORDS = 5
# From this share of the assertion's words on, a passage is on the same matter.
_RELATED_SHARE = 0.34
# Sentences of a passage that are read alone for the words that contradict an assertion.
_SENTENCES_TRIED = 4
_NOT_IN_ONE_SENTENCE = (
    "The passage is on the matter. Held against all of it something differs, but no sentence of it "
    "says otherwise by itself: read it."
)
# Order in which passages are shown.
_RANKS: dict[Bearing, int] = {
    "supports": 0,
    "close": 0,
    "supports_in_part": 1,
    "near": 1,
    "on_the_matter": 2,
    "contradicts": 2,
}


class Index(Protocol):
    """Asks the published, citable passages."""

    @property
    def fingerprint(self) -> str:
        """Return SHA-256 of the publications and settings that decide what is found."""
        ...

    def ask(self, query: str, top_k: int) -> Sequence[Hit]:
        """Return citable chunks, best first."""
        ...


class Statutes(Protocol):
    """Knows the articles of the published documents."""

    def article_of(self, hit: Hit, place: int) -> str | None:
        """Return the article, with its clause, that a place of a found chunk belongs to.

        Args:
            place: character of the chunk's text.

        Returns:
            None outside of every article, and for what is no statute.
        """
        ...


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found on one assertion."""

    queries: tuple[SuggestedQuery, ...]
    counterevidence: tuple[FoundPassage, ...]


class SearchStore(ResultStore[Findings]):
    """Findings of before by all that decides them."""

    what: ClassVar[str] = "searches of claim audits"
    most: ClassVar[int] = 5_000  # some 40 MB

    @staticmethod
    def to_json(result: Findings) -> Any:
        """Return findings as values that JSON knows."""
        return asdict(result)

    @staticmethod
    def from_json(stored: Any) -> Findings:
        """Return what `to_json` made.

        Raises:
            TypeError, KeyError: it was made by another version of the product.
        """
        return Findings(
            tuple(
                SuggestedQuery(query["query"], tuple(map(_passage, query["found"])))
                for query in stored["queries"]
            ),
            tuple(map(_passage, stored["counterevidence"])),
        )


def open_searches(workspace: Workspace) -> SearchStore:
    """Return the searches that a workspace keeps."""
    return SearchStore(
        workspace.judgements / "claim_searches.jsonl", workspace.locks / "claim_searches.lock"
    )


@dataclass(slots=True)
class Searcher:
    """Asks the index on assertions and judges what it finds.

    Args:
        statutes: name the article that a passage stands in.
        scorers: by namespace.
        suggestions: passages shown for a query.
        opponents: passages looked at for what speaks against an assertion; 0 for none.
        namespaces: of the draft; where there is one, uids stand without it.
    """

    index: Index
    statutes: Statutes
    scorers: Mapping[str, Scorer]
    suggestions: int
    opponents: int
    namespaces: Sequence[str]
    store: SearchStore
    searched_now: int = 0

    def search(self, claim: str, cited: Iterable[str], *, wants_queries: bool) -> Findings:
        """Return suggestions for a claim and what speaks against it.

        Args:
            cited: `namespace:doc_uid` of what it cites; is not suggested once more.
            wants_queries: False for a supported claim: only what speaks against it is wanted.
        """
        own = sorted(set(cited))
        key = hash_fields(
            SEARCH_VERSION, claim, own, wants_queries, self.suggestions, self.opponents,
            self.index.fingerprint, sorted(self.namespaces),
            sorted((name, scorer.fingerprint) for name, scorer in self.scorers.items()),
        )  # fmt: skip
        found = self.store.find(key)
        if found is None:
            found = self._search(claim, own, wants_queries=wants_queries)
            self.store.put([(key, found)])
            self.searched_now += 1
        return found

    def _search(self, claim: str, cited: Sequence[str], *, wants_queries: bool) -> Findings:
        judged: dict[str, FoundPassage] = {}
        queries: list[SuggestedQuery] = []
        for query in suggest_queries(claim) if wants_queries else ():
            passages = [
                found
                for found in self._ask(query, claim, self.suggestions * 2, judged)
                if f"{found.namespace}:{found.doc_uid}" not in cited
            ]
            shown = [found for found in passages if _is_on_the_matter(claim, found)]
            shown.sort(key=lambda found: (_RANKS[found.bearing], found.judged == "MISSING"))
            queries.append(SuggestedQuery(query, tuple(shown[: self.suggestions])))
            if shown:
                break  # the shorter query is for where the longer one finds nothing
        against: list[FoundPassage] = []
        if self.opponents:
            against = [
                found
                for found in self._ask(claim, claim, self.opponents, judged)
                if found.bearing == "contradicts"
                and f"{found.namespace}:{found.doc_uid}" not in cited
            ]
        return Findings(tuple(queries), tuple(against))

    def _ask(
        self, query: str, claim: str, top_k: int, judged: dict[str, FoundPassage]
    ) -> list[FoundPassage]:
        """Return what a query finds, each passage judged by itself; `judged` remembers it."""
        hits = [hit for hit in self.index.ask(query, top_k) if hit.namespace in self.scorers]
        for namespace, scorer in self.scorers.items():
            new = [h for h in hits if h.namespace == namespace and h.chunk_key not in judged]
            asked = [(hit, text) for hit in new if (text := _passage_text(hit)) is not None]
            if asked:
                judgements = scorer.judge([(claim, (text,)) for _, text in asked])
                judged.update(
                    (hit.chunk_key, found)
                    for (hit, text), judgement in zip(asked, judgements, strict=True)
                    if (found := self._show(hit, _with_its_words(claim, text, judgement, scorer)))
                    is not None
                )
        return [judged[hit.chunk_key] for hit in hits if hit.chunk_key in judged]

    def _show(self, hit: Hit, judgement: Judgement) -> FoundPassage | None:
        start, end = judgement.span
        begin = hit.char_start + start
        locator = locate(
            hit.page_start, hit.page_end, begin, hit.char_start + end, hit.section_path
        )
        if locator is None or not hit.citable:
            return None
        article = self.statutes.article_of(hit, start)
        where = f"{article}, {locator.text}" if article is not None else locator.text
        scorer = self.scorers[hit.namespace]
        bearing = bearing_of(judgement, scorer.thresholds, scorer.name)
        is_plain = len(self.scorers) == 1 or list(self.namespaces) == [hit.namespace]
        return FoundPassage(
            hit.doc_uid if is_plain else f"{hit.namespace}:{hit.doc_uid}",
            hit.namespace, hit.doc_uid, hit.doc_title, hit.chunk_id, hit.parent_id,
            hit.citation_id, hit.content_hash, where, locator.quality, hit.text,
            hit.text[start:end], start, end, bearing, judgement.status,
            judgement.reason_code, judgement.reason, judgement.score, judgement.speaks_for,
            judgement.speaks_against,
        )  # fmt: skip


def _passage_text(hit: Hit) -> PassageText | None:
    """Return a passage with its sentences that say something, None where none does."""
    if hit.kind == "front":  # authors, affiliations and dates
        return None
    names = [hit.doc_title or "", *hit.section_path]
    sentences = stating_sentences(hit.text, split_sentences(hit.text), names)
    stating = spans_that_state(hit.text, sentences)
    if not stating:
        return None
    return PassageText(hit.text, stating, name_context(hit.doc_title, hit.section_path))


def _with_its_words(
    claim: str, text: PassageText, judgement: Judgement, scorer: Scorer
) -> Judgement:
    """Return a judgement whose span holds the words that contradict the claim.

    What a passage says otherwise may stand in another sentence than the one that is nearest. The
    sentence that contradicts the claim when it is read alone is the one to quote; where there is
    none, nobody could see the contradiction in a quotation, and it is called none.
    """
    if judgement.reason_code != "contradicted":
        return judgement
    words = [sign.source.casefold() for sign in judgement.speaks_against if sign.source]
    others = [
        span
        for span in text.sentences
        if span != judgement.span
        and any(word in text.text[slice(*span)].casefold() for word in words)
    ]
    others.sort(key=lambda span: -coverage(claim, text.text[slice(*span)]))
    spans = [judgement.span, *others[: _SENTENCES_TRIED - 1]]
    sentences = [text.text[slice(*span)] for span in spans]
    alone = scorer.judge(
        [(claim, (PassageText(one, ((0, len(one)),), text.context),)) for one in sentences]
    )
    for (start, _), found in zip(spans, alone, strict=True):
        if found.reason_code == "contradicted":
            return replace(found, span=(start + found.span[0], start + found.span[1]))
    return replace(judgement, reason_code="not_found", reason=_NOT_IN_ONE_SENTENCE)


def suggest_queries(claim: str) -> tuple[str, ...]:
    """Return what could be asked for a claim: its content words, then those that tell most."""
    whole = suggest_query(claim)
    words = whole.split()
    units = {word: max(map(term_weight, content_units(word)), default=0.0) for word in words}
    telling = sorted(words, key=lambda word: -units[word])[:_TELLING_WORDS]
    short = " ".join(word for word in words if word in telling)
    return tuple(dict.fromkeys(query for query in (whole, short) if query))


def _is_on_the_matter(claim: str, found: FoundPassage) -> bool:
    return (
        found.judged != "MISSING"
        or found.bearing == "contradicts"
        or coverage(claim, found.text) >= _RELATED_SHARE
    )


def _passage(stored: Mapping[str, Any]) -> FoundPassage:
    signs = {
        name: tuple(Sign(**sign) for sign in stored[name])
        for name in ("speaks_for", "speaks_against")
    }
    return FoundPassage(**{**stored, **signs})
