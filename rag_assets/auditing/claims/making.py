"""The claim audit of a draft: its strong assertions that cite nothing, and what speaks of them.

Documents are judged as `rag verify-citations` judges those that are cited: the same finder, the
same scorer, the same memory. So a source that is cited on this advice is not judged again.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import get_args

from rag_assets.auditing.claims.deciding import (
    CONTRADICTING_SCORER,
    LIKENESS_SCORER,
    as_found,
    claim_urgency,
    decide_status,
    dispute,
    explain,
)
from rag_assets.auditing.claims.linking import Assertion, find_claims
from rag_assets.auditing.claims.record import (
    ClaimAudit,
    ClaimRow,
    LinkedEvidence,
    SuggestedQuery,
    UsedSource,
    identify_claims,
)
from rag_assets.auditing.claims.searching import DocumentKey, Searcher
from rag_assets.auditing.claims.wording import Exemption, Wording
from rag_assets.auditing.deciding import Case
from rag_assets.auditing.drafts.anchors import Citation
from rag_assets.auditing.drafts.draft import CitedSentence, Draft
from rag_assets.auditing.encoders import Encoder
from rag_assets.auditing.judgements import Judgements, join_judgements
from rag_assets.auditing.judging_cases import Court
from rag_assets.auditing.library import CitedDocumentRef, Library
from rag_assets.auditing.ordering import (
    CONTRADICTED,
    FACTS_DIFFER,
    NOTHING_FOUND,
    PARTLY,
    SUPPORTED,
    UNREAD,
    urgency,
)
from rag_assets.auditing.verdict import CitationVerdict
from rag_assets.auditing.verdict_store import VerdictStore
from rag_assets.auditing.verification import (
    Encoders,
    day_of,
    judge_cases,
    make_cases,
    remembering,
)
from rag_assets.evidence.wording import coverage, suggest_query
from rag_assets.judging import Scorer, load_scorer
from rag_assets.model import Progress
from rag_assets.settings import AuditSettings, VerifySettings

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
    encoder: Encoder | Mapping[str, Encoders],
    searcher: Searcher,
    verify: VerifySettings,
    settings: AuditSettings,
    *,
    namespaces: Sequence[str],
    store: VerdictStore | None = None,
    make_scorer: Callable[[VerifySettings, Encoder], Scorer] = load_scorer,
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
