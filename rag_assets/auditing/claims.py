"""The strong assertions of a draft that cite nothing, and what there is to support them."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import groupby
from types import ModuleType
from typing import Any, ClassVar, Literal, Protocol, get_args

from rag_assets.auditing import chinese_claims as chinese
from rag_assets.auditing import english_claims as english
from rag_assets.auditing.citation_forms import Citation
from rag_assets.auditing.consistency import Inconsistency, find_inconsistencies
from rag_assets.auditing.deciding import Case
from rag_assets.auditing.draft import CitedSentence, Draft, DraftSentence
from rag_assets.auditing.judgements import Judgements, join_judgements
from rag_assets.auditing.library import CitedDocumentRef, Library
from rag_assets.auditing.record import (
    CONTRADICTED,
    FACTS_DIFFER,
    NOTHING_FOUND,
    PARTLY,
    SUPPORTED,
    UNREAD,
    CitationVerdict,
    audit_to_json,
    urgency,
)
from rag_assets.auditing.verification import (
    Court,
    Encoders,
    ResultStore,
    VerdictStore,
    day_of,
    judge_cases,
    make_cases,
    remembering,
)
from rag_assets.evidence.locating import suggest_query
from rag_assets.judging import Scorer, TextEncoder, load_scorer
from rag_assets.model import Progress, count_han, hash_fields, is_chinese
from rag_assets.model.settings import AuditSettings, VerifySettings
from rag_assets.publishing.content_words import coverage
from rag_assets.retrieval import NOT_EVIDENCE, Hit, Retriever, SearchFilters
from rag_assets.workspace import Workspace

# What sort of assertion a sentence is, in English or Chinese, and whether it is a strong one.

AssertionType = Literal[
    "causal", "comparative", "superlative", "universal", "recommendation", "quantitative"
]
Exemption = Literal["question", "definition", "own_work", "structure", "hedged", "no_statement"]

# The primary type is the first of these that a sentence has: what asks most of its evidence.
_ORDER: tuple[AssertionType, ...] = (
    "causal",
    "comparative",
    "superlative",
    "universal",
    "recommendation",
    "quantitative",
)
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_QUOTED = re.compile(r"[“\"「『][^”\"」』]{0,400}[”\"」』]")
# A label, a keyword line, a reference: fewer words than a sentence has.
_FEWEST_WORDS = 3
_FEWEST_HAN = 4


@dataclass(frozen=True, slots=True)
class Wording:
    """How a sentence says what it says.

    Args:
        types: all that it asserts, the primary first; of a hedged sentence too.
        exemption: why it is no strong assertion all the same; None where nothing exempts it.
        cue: the words that exempt it, or that made it of its primary type; may be empty.
    """

    types: tuple[AssertionType, ...]
    exemption: Exemption | None
    cue: str

    @property
    def is_strong(self) -> bool:
        """Say whether the sentence asserts something that wants evidence."""
        return bool(self.types) and self.exemption is None

    @property
    def is_hedged(self) -> bool:
        """Say whether it would be a strong assertion without its hedge."""
        return bool(self.types) and self.exemption == "hedged"


def read_wording(sentence: str) -> Wording:
    """Return what one sentence, without citations and marks, asserts and how strongly."""
    rules = chinese if is_chinese(sentence) else english
    types, cues = _find_types(sentence, rules)
    exemption, cue = _find_exemption(sentence, rules, types)
    return Wording(types, exemption, cue or (cues.get(types[0], "") if types else ""))


def _find_types(
    sentence: str, rules: ModuleType
) -> tuple[tuple[AssertionType, ...], dict[AssertionType, str]]:
    cues: dict[AssertionType, str] = {}
    if rules is english:
        # Where something else names a cause, it still does with “has” in the verb's place.
        asked = english.BRINGS_FORTH.sub(r"\1has", sentence)
        if cause := english.find_cause(asked):
            cues["causal"] = cause
    elif found := chinese.CAUSAL.search(sentence):
        cues["causal"] = found.group()
    patterns: tuple[tuple[AssertionType, re.Pattern[str]], ...] = (
        ("comparative", rules.COMPARATIVE),
        ("superlative", rules.SUPERLATIVE),
        ("universal", rules.UNIVERSAL),
        ("recommendation", rules.RECOMMENDATION),
    )
    for kind, pattern in patterns:
        if found := pattern.search(sentence):
            cues[kind] = found.group()
    if found := rules.QUANTITATIVE.search(rules.NO_QUANTITY.sub(" ", sentence)):
        cues["quantitative"] = found.group()
    return tuple(kind for kind in _ORDER if kind in cues), cues


def _find_exemption(
    sentence: str, rules: ModuleType, types: tuple[AssertionType, ...]
) -> tuple[Exemption | None, str]:
    if not _is_statement(sentence):
        return "no_statement", ""
    patterns: tuple[tuple[Exemption, re.Pattern[str]], ...] = (
        ("question", rules.QUESTION),
        ("structure", rules.STRUCTURE),
        ("own_work", rules.OWN_WORK),
        ("definition", rules.DEFINITION),
    )
    for name, pattern in patterns:
        if found := pattern.search(sentence):
            return name, found.group().strip()
    # What somebody else is quoted as saying hedges or does not hedge for himself.
    unquoted = _QUOTED.sub(" ", sentence)
    if found := rules.HEDGE.search(unquoted if _is_statement(unquoted) else sentence):
        return "hedged", found.group().strip()
    if rules is english and types and types[0] in {"superlative", "universal", "quantitative"}:
        found = english.VAGUE.search(unquoted)
        if found:
            return "hedged", found.group().strip()
    return None, ""


def _is_statement(sentence: str) -> bool:
    return len(_LATIN_WORD.findall(sentence)) >= _FEWEST_WORDS or count_han(sentence) >= _FEWEST_HAN


# A claim audit as a value.

# Part of every audit's identity: raise it when the same inputs may come out otherwise.
CLAIM_AUDIT_VERSION = 6

ClaimStatus = Literal["DISPUTED", "EVIDENCE_NEEDED", "WEAK", "SUPPORTED"]
CounterMode = Literal["off", "soft", "strict"]


@dataclass(frozen=True, slots=True)
class LinkedEvidence:
    """A citation at the end of the assertion's paragraph, with its verdict.

    Args:
        linkage: how it belongs to the assertion; there is one way.
    """

    verdict: CitationVerdict
    linkage: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True)
class SuggestedQuery:
    """A query for the index, and what it finds.

    Args:
        found: documents that could be cited, each judged as if the assertion cited it, best first;
            nothing is said as nothing.
    """

    query: str
    found: tuple[CitationVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A strong assertion of the draft that cites nothing itself.

    Args:
        claim_id: of its words; the second sentence of the same words gets `-2`.
        line: of the draft, from 1; [start, end) in its text. `file` that the line is of, where the
            draft includes others.
        section: the heading above it; empty before the first.
        sentence: as it stands; `claim_text` is it without marks.
        claim_type: the primary of `claim_types`; `cue` the words that made it so, may be empty.
        linked_evidence: the citations at the end of its paragraph, with their verdicts.
        reason: a sentence or two for the writer.
        suggested_queries: for what is not supported.
        counterevidence: verdicts on other documents that say the opposite; empty where they were
            not looked for.
        urgency: its place in the order of showing: 0 contradicted, 1 facts differ, 2 nothing
            found, 3 partly, 4 unread, 5 supported.
    """

    claim_id: str
    line: int
    start: int
    end: int
    section: str
    sentence: str
    claim_text: str
    claim_type: AssertionType
    claim_types: tuple[AssertionType, ...]
    cue: str
    linked_evidence: tuple[LinkedEvidence, ...]
    status: ClaimStatus
    reason: str
    suggested_queries: tuple[SuggestedQuery, ...]
    counterevidence: tuple[CitationVerdict, ...]
    urgency: int
    file: str = ""


@dataclass(frozen=True, slots=True)
class UsedSource:
    """A document that a draft cites, as `namespace:doc_uid`, and its title."""

    cite: str
    title: str


@dataclass(frozen=True, slots=True)
class ClaimAudit:
    """The strong assertions of one draft that cite nothing. Holds everything it looked at.

    Args:
        audit_id: of the draft and what was found (`identify_claims`).
        draft_digest: SHA-256 of the draft's bytes.
        sentences: how many the draft has, headings not counted.
        cited: how many strong assertions cite something themselves; `rag verify-citations` judges
            those.
        exempt: how many would have been strong assertions but for this; by reason.
        publications: asked, by namespace, sorted.
        scorer: its name; `scorer_fingerprints` by namespace.
        rows: in the order of the draft.
        sources_used: what the draft cites, sorted.
        warnings: sentences a person can act on.
        inconsistent: where the draft contradicts itself, in its order.
        as_of: the day, ISO 8601, on which the wordings of the cited statutes have to hold; None
            where no citation depends on a day.
        searched_now: how many assertions the index was asked for; the others were kept from
            before. Not stored. `judged_now` likewise counts judgements.
    """

    audit_id: str
    draft_name: str
    draft_digest: str
    sentences: int
    cited: int
    exempt: Mapping[Exemption, int]
    publications: Mapping[str, str]
    scorer: str
    scorer_fingerprints: Mapping[str, str]
    counterevidence: CounterMode
    rows: tuple[ClaimRow, ...]
    sources_used: tuple[UsedSource, ...]
    warnings: tuple[str, ...]
    inconsistent: tuple[Inconsistency, ...] = ()
    as_of: str | None = None
    searched_now: int = field(default=0, compare=False)
    judged_now: int = field(default=0, compare=False)

    schema: ClassVar[str] = "rag-assets/claim-audit/6"
    command: ClassVar[str] = "rag audit"
    title: ClassVar[str] = "Claim audit"
    about: ClassVar[str] = (
        "The strong assertions of a draft that cite nothing, what speaks of them, and where the "
        "draft contradicts itself."
    )

    @property
    def counts(self) -> dict[ClaimStatus, int]:
        """Return how many assertions have each status, all of them named."""
        found = Counter(row.status for row in self.rows)
        statuses: tuple[ClaimStatus, ...] = get_args(ClaimStatus)
        return {status: found[status] for status in statuses}

    @property
    def by_urgency(self) -> list[ClaimRow]:
        """Return the rows as they are shown: what needs eyes first."""
        return sorted(self.rows, key=lambda row: row.urgency)

    @property
    def errors(self) -> tuple[str, ...]:
        """Return why citations at the ends of the assertions' paragraphs cannot be judged."""
        linked = (one.verdict for row in self.rows for one in row.linked_evidence)
        return tuple(one.reason for one in linked if one.status == "ERROR")


def identify_claims(audit: ClaimAudit) -> ClaimAudit:
    """Return an audit with its id: SHA-256 of the draft and what was found, and of no clock.

    Neither publications nor the day are in it: what changes nothing here makes no new audit.
    """
    content = audit_to_json(audit)
    kept = {k: v for k, v in content.items() if k not in {"audit_id", "publications", "as_of"}}
    return replace(audit, audit_id=hash_fields(CLAIM_AUDIT_VERSION, kept))


# From verdicts to the status of an assertion, and what is said to its writer.

# It says how alike two texts are, not whether one supports the other.
LIKENESS_SCORER = "similarity"
# It tells a contradiction from silence. Another figure does not: it may be of something else.
CONTRADICTING_SCORER = "llm"
_RANKS = {"OK": 0, "WEAK": 1, "MISSING": 2, "ERROR": 3}
_KINDS = {
    "causal": "a claim of cause and effect",
    "comparative": "a comparison",
    "superlative": "a superlative",
    "universal": "a claim about all cases",
    "recommendation": "a recommendation",
    "quantitative": "a figure",
}
_OTHER_FIGURES = "It gives other figures, of the same thing or of another: read it."


def decide_status(evidence: Sequence[CitationVerdict]) -> ClaimStatus:
    """Return the status that the citations at the end of its paragraph give an assertion.

    One that supports it is enough. They were perhaps not meant for this sentence: where none
    supports it, it cites nothing.
    """
    statuses = {verdict.status for verdict in evidence}
    if "OK" in statuses:
        return "SUPPORTED"
    return "WEAK" if "WEAK" in statuses else "EVIDENCE_NEEDED"


def best_of(verdicts: Sequence[CitationVerdict]) -> CitationVerdict:
    """Return the verdict that says most for an assertion, the first of equals."""
    return min(verdicts, key=lambda verdict: _RANKS[verdict.status])


def describe_found(verdict: CitationVerdict) -> str:
    """Return what may be said of a document that nobody cites yet, in a few words."""
    if verdict.reason_code == "contradicted":
        return "says otherwise"
    if verdict.reason_code == "facts_differ":
        return "has other figures"
    if verdict.reason_code == "unread":
        return "nearest, not read"
    if verdict.scored_by == LIKENESS_SCORER:
        return "close to it" if verdict.status == "OK" else "near it"
    return "says it" if verdict.status == "OK" else "says it in part"


def as_found(verdict: CitationVerdict) -> CitationVerdict:
    """Return a verdict on a document that nobody cites yet.

    A citation whose figure differs is to be corrected; what was merely found may speak of
    something else, and its figures speak against nothing.
    """
    if verdict.reason_code != "facts_differ":
        return verdict
    return replace(verdict, reason=_OTHER_FIGURES, speaks_against=())


def explain(
    claim_type: str,
    evidence: Sequence[CitationVerdict],
    queries: Sequence[SuggestedQuery],
    against: Sequence[CitationVerdict],
) -> str:
    """Return a sentence or two for the writer: what is the matter and what to do."""
    if evidence:
        best = best_of(evidence)
        parts = [f"It cites nothing itself; at the end of its paragraph: {_named(best)}."]
        parts.append(best.reason)
    else:
        parts = [f"It is {_KINDS[claim_type]} without a source."]
    parts.extend(_advise(queries, has_evidence=bool(evidence), is_opposed=bool(against)))
    if against:
        count = len({(found.namespace, found.doc_uid) for found in against})
        who = "another document says" if count == 1 else f"{count} other documents say"
        parts.append(f"{who[0].upper()}{who[1:]} otherwise: discuss it, or say less.")
    return " ".join(parts)


def _advise(
    queries: Sequence[SuggestedQuery], *, has_evidence: bool, is_opposed: bool
) -> list[str]:
    found = [verdict for query in queries for verdict in query.found]
    if found:
        best = found[0]
        if best.status == "OK" and best.scored_by != LIKENESS_SCORER:
            return [f"{_named(best)} says it: read it and cite it."]
        if best.reason_code == "contradicted":
            return [f"{_named(best)} says otherwise: correct the sentence, or discuss it."]
        return [f"Found: {_named(best)}, {describe_found(best)}. Read it before you cite it."]
    if queries and not is_opposed:
        # What stands at the end of the paragraph is not suggested once more.
        what = "No other document in the index" if has_evidence else "Nothing citable in the index"
        return [f"{what} speaks of it: add a source to raw/evidence, or say less."]
    return []


def _named(verdict: CitationVerdict) -> str:
    where = f" ({verdict.locator})" if verdict.locator else ""
    return f"{verdict.shown_citation}{where}"


def dispute(
    status: ClaimStatus, against: Sequence[CitationVerdict], mode: CounterMode
) -> ClaimStatus:
    """Return the status after what other documents say: `strict` lets them decide with."""
    return "DISPUTED" if mode == "strict" and against else status


def claim_urgency(
    status: ClaimStatus,
    evidence: Sequence[CitationVerdict],
    queries: Sequence[SuggestedQuery],
    against: Sequence[CitationVerdict],
) -> int:
    """Return the place of an assertion in the order in which results are shown, from 0."""
    found = [verdict for query in queries for verdict in query.found]
    if against or any(urgency(verdict) == CONTRADICTED for verdict in (*evidence, *found)):
        return CONTRADICTED
    if status != "EVIDENCE_NEEDED" and evidence:
        return urgency(best_of(evidence))
    return NOTHING_FOUND


# The strong assertions of a draft that cite nothing, and what may speak for them all the same.


@dataclass(frozen=True, slots=True)
class Assertion:
    """A strong assertion that cites nothing itself.

    Args:
        section: the heading above it.
        citations: those at the end of its paragraph, which may be meant for it too.
    """

    sentence: DraftSentence
    wording: Wording
    section: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class DraftClaims:
    """What a draft asserts.

    Args:
        assertions: that cite nothing.
        cited: how many cite something, in the sentence or in a footnote of it.
        read: the wordings of all its sentences but headings.
    """

    assertions: tuple[Assertion, ...]
    cited: int
    read: tuple[Wording, ...]


def find_claims(draft: Draft) -> DraftClaims:
    """Return the strong assertions of a draft, in order.

    A sentence without citations of its own may be covered by those at the end of its paragraph,
    where no other cited sentence stands between: in scholarly prose a citation there speaks for
    what leads up to it. Whether it does is judged like any other.
    """
    assertions: list[Assertion] = []
    read: list[Wording] = []
    section, cited = "", 0
    for _, group in groupby(draft.all_sentences, key=lambda sentence: sentence.block):
        sentences = list(group)
        if sentences[0].kind == "heading":
            section = " ".join(sentence.claim for sentence in sentences)
            continue
        if sentences[0].is_listed:
            continue
        covering = _covering(sentences)
        for number, sentence in enumerate(sentences):
            if not sentence.claim:
                continue
            wording = read_wording(sentence.claim)
            read.append(wording)
            if not wording.is_strong or _is_head_of_table(sentence, draft):
                continue
            if sentence.citations or sentence.noted:
                cited += 1
                continue
            assertions.append(Assertion(sentence, wording, section, covering.get(number, ())))
    return DraftClaims(tuple(assertions), cited, tuple(read))


def _covering(sentences: Sequence[DraftSentence]) -> dict[int, tuple[Citation, ...]]:
    """Return the citations at the end of a paragraph for those before it without any."""
    last = sentences[-1]
    if last.kind != "paragraph" or not last.citations:
        return {}
    # A citation in the midst of the last sentence speaks for its words alone.
    final = tuple(
        replace(citation, claim="")
        for citation in last.citations
        if not _has_words_behind(last, citation)
    )
    covered: dict[int, tuple[Citation, ...]] = {}
    for number in range(len(sentences) - 2, -1, -1):
        if sentences[number].citations or sentences[number].noted:
            break
        covered[number] = final
    return covered


def _has_words_behind(sentence: DraftSentence, citation: Citation) -> bool:
    if not sentence.start <= citation.start < sentence.end:
        return False
    behind = {other.end for other in sentence.citations if other.start > citation.start}
    tail = sentence.end - max(citation.end, *behind, citation.end)
    # Closing brace and bracket, full stop, closing quotation mark.
    return tail > len("}]). ”")


def _is_head_of_table(sentence: DraftSentence, draft: Draft) -> bool:
    if sentence.kind != "row":
        return False
    before = [s for s in draft.all_sentences if s.block == sentence.block - 1]
    return not before or before[0].kind != "row"


# Which published documents speak of an assertion: the search that `rag query` makes.

# Part of the key of what is kept: raise it when the same question may be answered otherwise.
SEARCH_VERSION = 6
# Chunks asked for a document that is wanted: the best of one document often stand together.
_CHUNKS_A_DOCUMENT = 4

DocumentKey = tuple[str, str]
"""Namespace and `doc_uid`."""


class Index(Protocol):
    """Asks the published, citable passages."""

    @property
    def fingerprint(self) -> str:
        """Return SHA-256 of the publications and settings that decide what is found."""

    def ask(self, query: str, top_k: int) -> Sequence[Hit]:
        """Return citable chunks, best first."""


class PublishedIndex:
    """The search of `rag query` over the publications of an open retriever: what may be cited."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._fingerprint = hash_fields(
            {reader.namespace: reader.name for reader in retriever.readers},
            retriever.settings.model_dump(mode="json"),
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the publications and of the settings of the search."""
        return self._fingerprint

    def ask(self, query: str, top_k: int) -> Sequence[Hit]:
        """Return citable chunks, best first."""
        found = self._retriever.retrieve(
            query, top_k=top_k, filters=SearchFilters(citable_only=True)
        )
        return [hit for hit in found.hits if hit.kind not in NOT_EVIDENCE]


class SearchStore(ResultStore[tuple[DocumentKey, ...]]):
    """Documents found before, by all that decides them."""

    what: ClassVar[str] = "searches of claim audits"
    most: ClassVar[int] = 20_000  # some 4 MB
    kind: ClassVar[Any] = tuple[DocumentKey, ...]


def open_searches(workspace: Workspace) -> SearchStore:
    """Return the searches that a workspace keeps."""
    return SearchStore(
        workspace.store,
        workspace.key_of(workspace.judgements / "claim_searches.jsonl"),
        workspace.locks / "claim_searches.lock",
    )


@dataclass(slots=True)
class Searcher:
    """Asks the index which documents speak of something, each question once."""

    index: Index
    store: SearchStore
    searched_now: int = 0

    def find_documents(
        self, query: str, most: int, cited: Container[DocumentKey]
    ) -> tuple[DocumentKey, ...]:
        """Return the documents that a query finds, best first.

        Args:
            most: how many, from 1.
            cited: what is cited already, and not suggested once more.
        """
        key = hash_fields(SEARCH_VERSION, query, most, self.index.fingerprint)
        found = self.store.find(key)
        if found is None:
            hits = self.index.ask(query, most * _CHUNKS_A_DOCUMENT)
            found = tuple(
                dict.fromkeys((hit.namespace, hit.doc_uid) for hit in hits if hit.citable)
            )
            self.store.put([(key, found)])
            self.searched_now += 1
        return tuple(document for document in found if document not in cited)[:most]


# The claim audit of a draft: its strong assertions that cite nothing, and what speaks of them.
#
# Documents are judged as `rag verify-citations` judges those that are cited: the same finder, the
# same scorer, the same memory. So a source that is cited on this advice is not judged again.

_ID_DIGITS = 10
# What nothing has read is on the matter from this share of the assertion's words on.
_RELATED_SHARE = 0.34
# What could be cited is shown in the order in which it is of use.
_SHOWN = (SUPPORTED, PARTLY, UNREAD, FACTS_DIFFER, CONTRADICTED, NOTHING_FOUND)

Found = Mapping[int, Sequence[CitationVerdict]]
"""Verdicts by the number of an assertion."""


def make_claim_audit(
    draft: Draft,
    library: Library,
    encoder: TextEncoder | Mapping[str, Encoders],
    searcher: Searcher,
    verify: VerifySettings,
    settings: AuditSettings,
    *,
    namespaces: Sequence[str],
    store: VerdictStore | None = None,
    make_scorer: Callable[[VerifySettings, TextEncoder], Scorer] = load_scorer,
    on_progress: Progress | None = None,
    as_of: date | None = None,
    judgements: Judgements | None = None,
) -> ClaimAudit:
    """Return the strong assertions of a draft that cite nothing, with what speaks of them.

    Args:
        draft: as `read_draft` returns it.
        library: the published documents; `encoder` as `verify_citations` takes it.
        searcher: asks the same publications.
        verify: how documents are judged.
        settings: how many are suggested; whether counter-evidence is looked for, and counts.
        namespaces: that are searched, at least one.
        store: judgements made before.
        on_progress: told while evidence is sought and read.
        as_of: the library's day, to be recorded where statutes are cited.
        judgements: what people have decided on sentences and documents that they cite.

    Raises:
        ConfigurationError: as `verify_citations`.
    """
    claims = find_claims(draft)
    cases, listed = make_cases(draft, library)
    cited = {(c.target.namespace, c.target.doc_uid): c.target.title or "" for c in cases
             if isinstance(c.target, CitedDocumentRef)}  # fmt: skip
    cited |= {(one.namespace, one.doc_uid): one.title or "" for one in listed}
    names = sorted({*namespaces, *(namespace for namespace, _ in cited)})
    scorers = {
        name: make_scorer(verify, models[0]) for name, models in remembering(encoder, names).items()
    }
    court = Court(library, scorers, verify.k, store or VerdictStore(), on_progress)
    desk = _Desk(draft, library, court, searcher, claims.assertions)
    evidence = desk.judge_covering(judgements or Judgements())
    scorer = scorers[namespaces[0]]
    queries = {
        number: suggest_query(assertion.sentence.claim)
        for number, assertion in enumerate(claims.assertions)
        if decide_status(evidence.get(number, ())) != "SUPPORTED"
    }
    asked = {number: query for number, query in queries.items() if query}
    found = desk.judge_found(asked, settings.suggestions_top_k)
    against: Found = {}
    looks_against = settings.counterevidence != "off" and scorer.name == CONTRADICTING_SCORER
    if looks_against:
        whole = {n: each.sentence.claim for n, each in enumerate(claims.assertions)}
        against = desk.judge_found(whole, settings.counterevidence_top_k)
    seen: Counter[str] = Counter()
    rows = tuple(
        _make_row(
            assertion,
            evidence.get(number, ()),
            [SuggestedQuery(query, _suggested(assertion, found.get(number, ())))
             for query in [asked.get(number)] if query],
            [one for one in against.get(number, ()) if one.reason_code == "contradicted"],
            settings,
            seen,
        )
        for number, assertion in enumerate(claims.assertions)
    )  # fmt: skip
    made = ClaimAudit(
        audit_id="",
        draft_name=draft.name,
        draft_digest=draft.digest,
        sentences=len(claims.read),
        cited=claims.cited,
        exempt=_count_exempt(claims.read),
        publications={name: library.publications[name] for name in names},
        scorer=scorer.name,
        scorer_fingerprints={name: each.fingerprint for name, each in scorers.items()},
        counterevidence=settings.counterevidence,
        rows=rows,
        sources_used=tuple(
            UsedSource(f"{namespace}:{uid}", title)
            for (namespace, uid), title in sorted(cited.items())
        ),
        warnings=tuple(_warn(draft, scorer, settings)),
        inconsistent=find_inconsistencies(draft),
        as_of=day_of(cases, as_of),
        searched_now=searcher.searched_now,
        judged_now=court.judged_now,
    )
    return identify_claims(made)


class _Desk:
    """Has documents judged for the assertions of a draft, many in one call."""

    def __init__(
        self,
        draft: Draft,
        library: Library,
        court: Court,
        searcher: Searcher,
        assertions: Sequence[Assertion],
    ) -> None:
        self._draft = draft
        self._library = library
        self._court = court
        self._searcher = searcher
        self._assertions = assertions
        self._cited: dict[int, set[DocumentKey]] = {}

    def judge_covering(self, judgements: Judgements) -> Found:
        """Return the verdicts on the citations at the ends of paragraphs; people's come first."""
        covered = tuple(
            _sentence(number, assertion, assertion.citations)
            for number, assertion in enumerate(self._assertions)
            if assertion.citations
        )
        asked = replace(self._draft, sentences=covered, listed=())
        cases, _ = make_cases(asked, self._library)
        for case in cases:
            if isinstance(case.target, CitedDocumentRef):
                document = (case.target.namespace, case.target.doc_uid)
                self._cited.setdefault(case.sentence.index, set()).add(document)
        return {
            number: join_judgements(verdicts, judgements)
            for number, verdicts in self._judge(cases).items()
        }

    def judge_found(self, queries: Mapping[int, str], most: int) -> Found:
        """Return the verdicts on what queries find, each as if the assertion cited it.

        Args:
            queries: by number of the assertion.
            most: documents of a query, from 1.
        """
        found = self._judge(list(self._cases(queries, most)))
        return {number: list(map(as_found, verdicts)) for number, verdicts in found.items()}

    def _cases(self, queries: Mapping[int, str], most: int) -> Iterator[Case]:
        is_plain = len(self._court.scorers) == 1 or len(self._draft.namespaces) == 1
        for number, query in queries.items():
            cited = self._cited.get(number, set())
            found = self._searcher.find_documents(query, most, cited)
            for place, (namespace, uid) in enumerate(found, start=1):
                refs = self._library.find(uid, namespace)
                if not refs or not refs[0].citable or namespace not in self._court.scorers:
                    continue
                sentence = _sentence(number, self._assertions[number], ())
                name = None if is_plain else namespace
                citation = Citation(name, uid, sentence.end, sentence.end)
                yield Case(place, sentence, citation, refs[0])

    def _judge(self, cases: Sequence[Case]) -> Found:
        numbered = [replace(case, number=place) for place, case in enumerate(cases, start=1)]
        verdicts = judge_cases(numbered, self._court)
        found: dict[int, list[CitationVerdict]] = {}
        for case, verdict in zip(cases, verdicts, strict=True):
            one = replace(verdict, number=case.number)
            found.setdefault(case.sentence.index, []).append(one)
        return found


def _sentence(number: int, assertion: Assertion, citations: tuple[Citation, ...]) -> CitedSentence:
    stated = assertion.sentence
    return CitedSentence(
        number, stated.line, stated.start, stated.end, stated.text, stated.claim, citations
    )


def _suggested(
    assertion: Assertion, found: Iterable[CitationVerdict]
) -> tuple[CitationVerdict, ...]:
    """Return what is worth showing: what says it first, then what comes near."""
    kept = [verdict for verdict in found if _is_on_the_matter(assertion.sentence.claim, verdict)]
    return tuple(sorted(kept, key=lambda verdict: _SHOWN.index(urgency(verdict))))


def _is_on_the_matter(claim: str, verdict: CitationVerdict) -> bool:
    if verdict.reason_code == "contradicted" or verdict.passage is None:
        return verdict.passage is not None
    if verdict.reason_code in {"unread", "facts_differ"}:
        return coverage(claim, verdict.passage) >= _RELATED_SHARE
    return verdict.status in {"OK", "WEAK"}


def _make_row(
    assertion: Assertion,
    evidence: Sequence[CitationVerdict],
    queries: Sequence[SuggestedQuery],
    against: Sequence[CitationVerdict],
    settings: AuditSettings,
    seen: Counter[str],
) -> ClaimRow:
    sentence, wording = assertion.sentence, assertion.wording
    status = decide_status(evidence)
    primary = wording.types[0]
    return ClaimRow(
        claim_id=_claim_id(sentence.claim, seen),
        line=sentence.line,
        file=sentence.file,
        start=sentence.start,
        end=sentence.end,
        section=assertion.section,
        sentence=sentence.text,
        claim_text=sentence.claim,
        claim_type=primary,
        claim_types=wording.types,
        cue=wording.cue,
        linked_evidence=tuple(map(LinkedEvidence, evidence)),
        status=dispute(status, against, settings.counterevidence),
        reason=explain(primary, evidence, queries, against),
        suggested_queries=tuple(queries),
        counterevidence=tuple(against),
        urgency=claim_urgency(status, evidence, queries, against),
    )


def _claim_id(claim: str, seen: Counter[str]) -> str:
    digest = hashlib.sha256(" ".join(claim.split()).encode("utf-8")).hexdigest()[:_ID_DIGITS]
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _count_exempt(read: Sequence[Wording]) -> dict[Exemption, int]:
    counted = Counter(wording.exemption for wording in read if wording.types)
    reasons: tuple[Exemption, ...] = get_args(Exemption)
    return {reason: counted[reason] for reason in reasons if counted[reason]}


def _warn(draft: Draft, scorer: Scorer, settings: AuditSettings) -> Iterator[str]:
    yield from draft.warnings
    if scorer.name == LIKENESS_SCORER:
        yield (
            f"The scorer {scorer.name} says how alike two texts are, not whether one supports "
            "the other: SUPPORTED means that the source speaks of the same thing. Check numbers, "
            "negations and directions against its words."
        )
    if settings.counterevidence != "off" and scorer.name != CONTRADICTING_SCORER:
        yield (
            f"Counter-evidence was not looked for: the scorer {scorer.name} cannot tell that a "
            "source says otherwise. Set verify.scorer to llm (`rag models list`)."
        )
