"""The claim audit of a draft: its strong assertions, what supports them, what to look for."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from rag_assets.auditing.claims.causal_model import CausalReader
from rag_assets.auditing.claims.deciding import LIKENESS_SCORERS, decide_status, dispute, explain
from rag_assets.auditing.claims.linking import Assertion, cited_sentences, find_claims
from rag_assets.auditing.claims.record import ClaimAudit, ClaimRow, LinkedEvidence
from rag_assets.auditing.claims.searching import Findings, Searcher
from rag_assets.auditing.claims.wording import Exemption, Wording
from rag_assets.auditing.drafts.draft import Draft
from rag_assets.auditing.encoders import Encoder
from rag_assets.auditing.library import Library
from rag_assets.auditing.record import CitationAudit
from rag_assets.auditing.unread import warn_of_unread
from rag_assets.auditing.verdict import CitationVerdict
from rag_assets.auditing.verdict_store import VerdictStore
from rag_assets.auditing.verification import Encoders, verify_citations
from rag_assets.judging import Scorer, load_scorer
from rag_assets.workspace.settings import AuditSettings, VerifySettings

_ID_DIGITS = 10
_NOTHING = Findings((), ())


def make_claim_audit(
    draft: Draft,
    library: Library,
    encoder: Encoder | Mapping[str, Encoders],
    searcher: Searcher,
    verify: VerifySettings,
    settings: AuditSettings,
    *,
    store: VerdictStore | None = None,
    causes: CausalReader | None = None,
    make_scorer: Callable[[VerifySettings, Encoder], Scorer] = load_scorer,
) -> ClaimAudit:
    """Return the strong assertions of a draft with their evidence.

    Args:
        draft: as `read_draft` returns it.
        library: the published documents; `encoder` as `verify_citations` takes it.
        searcher: asks the same publications.
        verify: how citations are judged.
        settings: whether counter-evidence is looked for, and how it counts.
        store: judgements of citations made before.
        causes: keeps which sentences claim a cause.

    Raises:
        UsageError, ConfigurationError: as `verify_citations`.
    """
    claims = find_claims(draft, causes)
    asked = replace(draft, sentences=cited_sentences(draft, claims.assertions))
    verdicts = verify_citations(
        asked, library, encoder, verify, store=store, make_scorer=make_scorer
    )
    by_start: dict[int, list[CitationVerdict]] = {}
    for verdict in verdicts.rows:
        by_start.setdefault(verdict.sentence_start, []).append(verdict)
    seen: Counter[str] = Counter()
    rows = tuple(
        _make_row(assertion, by_start, searcher, settings, seen) for assertion in claims.assertions
    )
    return ClaimAudit(
        draft_name=draft.name,
        draft_digest=draft.digest,
        sentences=len(claims.read),
        exempt=_count_exempt(claims.read),
        publications=verdicts.publications,
        scorer=verdicts.scorer,
        scorer_fingerprints=tuple(
            sorted((name, scorer.fingerprint) for name, scorer in searcher.scorers.items())
        ),
        counterevidence=settings.counterevidence,
        rows=rows,
        sources_used=_sources(verdicts),
        warnings=tuple(_warn(draft, library, verdicts)),
        searched_now=searcher.searched_now,
        judged_now=verdicts.judged_now,
    )


def _make_row(
    assertion: Assertion,
    by_start: Mapping[int, Sequence[CitationVerdict]],
    searcher: Searcher,
    settings: AuditSettings,
    seen: Counter[str],
) -> ClaimRow:
    sentence, wording = assertion.sentence, assertion.wording
    linkages = {citation.label: linkage for linkage, citation in reversed(assertion.citations)}
    evidence = tuple(
        LinkedEvidence(linkages[verdict.cites], verdict)
        for verdict in by_start.get(sentence.start, ())
        if verdict.cites in linkages
    )
    status = decide_status(evidence)
    wants_queries = status != "SUPPORTED"
    found = _NOTHING
    if wants_queries or settings.counterevidence != "off":
        cited = [f"{item.verdict.namespace}:{item.verdict.doc_uid}" for item in evidence]
        found = searcher.search(sentence.claim, cited, wants_queries=wants_queries)
    status = dispute(status, found.counterevidence, settings.counterevidence)
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
        linked_evidence=evidence,
        status=status,
        reason=explain(status, primary, evidence, found.queries, found.counterevidence),
        suggested_queries=found.queries,
        counterevidence=found.counterevidence,
    )


def _claim_id(claim: str, seen: Counter[str]) -> str:
    digest = hashlib.sha256(" ".join(claim.split()).encode("utf-8")).hexdigest()[:_ID_DIGITS]
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _count_exempt(read: Sequence[Wording]) -> tuple[tuple[Exemption, int], ...]:
    counted = Counter(wording.exemption for wording in read if wording.types)
    reasons: tuple[Exemption, ...] = get_args(Exemption)
    return tuple((reason, counted[reason]) for reason in reasons if counted[reason])


def _warn(draft: Draft, library: Library, verdicts: CitationAudit) -> Iterator[str]:
    # That nothing is cited is what the audit is about.
    yield from (warning for warning in draft.warnings if not warning.startswith(draft.name + " c"))
    yield from warn_of_unread(draft, library)
    if verdicts.scorer in LIKENESS_SCORERS:
        yield (
            f"The scorer {verdicts.scorer} says how alike two texts are, not whether one supports "
            "the other: SUPPORTED means that the source speaks of the same thing. Check numbers, "
            "negations and directions against its words."
        )


def _sources(verdicts: CitationAudit) -> tuple[tuple[str, str], ...]:
    titles = {
        f"{row.namespace}:{row.doc_uid}": row.title or ""
        for row in verdicts.rows
        if row.status != "ERROR"
    }
    titles |= {f"{one.namespace}:{one.doc_uid}": one.title or "" for one in verdicts.listed}
    return tuple((cite, titles.get(cite, "")) for cite in verdicts.sources_used)
