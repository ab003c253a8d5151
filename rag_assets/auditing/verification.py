"""Verification of a draft's citations (spec 000 §4.8)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from rag_assets.auditing.deciding import Case, decide
from rag_assets.auditing.drafts.anchors import Citation
from rag_assets.auditing.drafts.draft import CitedSentence, Draft
from rag_assets.auditing.encoders import Encoder, RememberingEncoder
from rag_assets.auditing.judged import Judged
from rag_assets.auditing.judgements import Judgements, join_judgements
from rag_assets.auditing.judging_cases import Court, Outcome
from rag_assets.auditing.library import CitedDocumentRef, Library
from rag_assets.auditing.record import CitationAudit, ListedSource, identify_audit
from rag_assets.auditing.resolving import FaultyCitation, resolve_citation
from rag_assets.auditing.verdict import CitationVerdict
from rag_assets.auditing.verdict_store import VerdictStore
from rag_assets.judging import Scorer, load_scorer
from rag_assets.model import ConfigurationError, Progress, UsageError
from rag_assets.settings import VerifySettings

Encoders = Encoder | Sequence[Encoder]


def verify_citations(
    draft: Draft,
    library: Library,
    encoder: Encoder | Mapping[str, Encoders],
    settings: VerifySettings,
    *,
    store: VerdictStore | None = None,
    make_scorer: Callable[[VerifySettings, Encoder], Scorer] = load_scorer,
    on_progress: Progress | None = None,
    as_of: date | None = None,
    judgements: Judgements | None = None,
) -> CitationAudit:
    """Judge every citation of a draft against the document that it cites, and no other text.

    What decides is sought within the document alone, so that files which the draft does not cite
    change no verdict.

    Args:
        draft: as `read_draft` returns it.
        library: the published documents.
        encoder: a model, or by namespace some; only the scorer `similarity` asks it.
        settings: scorer, k and thresholds.
        store: judgements made before; what it holds is not judged again.
        make_scorer: from the settings and a namespace's first model.
        on_progress: told while evidence is sought and read.
        as_of: the library's day, to be recorded where statutes are cited.
        judgements: what people have decided; it overrides what is found here, and is no part of
            what `store` keeps.

    Raises:
        UsageError: the draft's front matter names a namespace that is not published.
        ConfigurationError: the thresholds contradict each other, or a namespace has no encoder.
    """
    _require_published(draft, library)
    cases, listed = make_cases(draft, library)
    consulted = _consulted(draft, cases, listed, library)
    encoders = remembering(encoder, consulted)
    judged_namespaces = {
        case.target.namespace for case in cases if isinstance(case.target, CitedDocumentRef)
    }
    scorers = {
        name: make_scorer(settings, models[0])
        for name, models in encoders.items()
        if name in judged_namespaces or not judged_namespaces
    }
    if not scorers:
        raise ConfigurationError(f"{draft.name}: no namespace is published that it could cite.")
    court = Court(library, scorers, settings.k, store or VerdictStore(), on_progress)
    rows = join_judgements(judge_cases(cases, court), judgements or Judgements(), draft)
    scorer = next(iter(scorers.values()))
    shown, windows = scorer.thresholds, court.windows_for(scorer)
    return CitationAudit(
        draft_name=draft.name,
        draft_digest=draft.digest,
        audit_id=identify_audit(draft.digest, scorer.name, windows, rows, listed),
        publications={name: library.publications[name] for name in consulted},
        encoders={
            name: ", ".join(model.fingerprint for model in encoders[name]) for name in consulted
        },
        scorer=scorer.name,
        k=windows,
        threshold=shown.ok,
        threshold_origin=shown.ok_origin,
        weak_threshold=shown.weak,
        weak_threshold_origin=shown.weak_origin,
        rows=rows,
        warnings=(*filter(None, [draft.uncited]), *draft.warnings, *_warn(rows)),
        listed=listed,
        as_of=day_of(cases, as_of),
        judged_now=court.judged_now,
    )


def _require_published(draft: Draft, library: Library) -> None:
    for namespace in draft.namespaces:
        if namespace not in library.publications:
            known = ", ".join(sorted(library.publications)) or "none yet"
            raise UsageError(
                f"{draft.name}: its front matter (or --namespace) names the namespace "
                f"`{namespace}`, which has no publication (published: {known}). Correct the name, "
                f"or run `rag ingest --namespace {namespace}`."
            )


def make_cases(draft: Draft, library: Library) -> tuple[list[Case], tuple[ListedSource, ...]]:
    """Return what is to be judged, and what the draft's list of sources holds.

    An entry of that list is no claim; one that cannot be resolved is a case all the same, so that
    a wrong uid is seen.
    """
    cases: list[Case] = []
    listed: dict[tuple[str, str], ListedSource] = {}
    targets: dict[str, CitedDocumentRef | FaultyCitation] = {}
    for sentence in draft.sentences:
        # A document cited twice for the same words is asked once.
        asked: dict[tuple[object, ...], Citation] = {}
        for one in sentence.citations:
            asked.setdefault((one.label, one.claim, one.hint), one)
        for citation in asked.values():
            label = citation.label
            if label not in targets:
                targets[label] = resolve_citation(citation, library, draft.namespaces)
            if citation.form == "words" and _is_cited_besides(citation, sentence, targets):
                continue
            cases.append(Case(len(cases) + 1, sentence, citation, targets[label]))
    for entry in draft.listed:
        for label, citation in {c.label: c for c in entry.citations}.items():
            if label not in targets:
                targets[label] = resolve_citation(citation, library, draft.namespaces)
            target = targets[label]
            if isinstance(target, FaultyCitation):
                number = len(draft.sentences) + entry.index
                sentence = replace(entry, index=number)
                cases.append(Case(len(cases) + 1, sentence, citation, target))
                continue
            found = ListedSource(entry.line, target.namespace, target.doc_uid, target.title)
            listed.setdefault((target.namespace, target.doc_uid), found)
    return cases, tuple(listed.values())


def _is_cited_besides(
    citation: Citation,
    sentence: CitedSentence,
    targets: Mapping[str, CitedDocumentRef | FaultyCitation],
) -> bool:
    """Say whether an article that a sentence names in words is what a mark of it cites, or is not
    known beside a mark: that one is judged.
    """
    own = targets[citation.label]
    others = [targets.get(one.label) for one in sentence.citations if one.form != "words"]
    # Of a whole document that a mark cites, the article that the sentence names is judged.
    if isinstance(own, FaultyCitation):
        return bool(others)
    return own in others or replace(own, article=None) in others


def day_of(cases: Iterable[Case], as_of: date | None) -> str | None:
    """Return a day as audits record it; None where no statute is cited that has to hold on it."""
    is_asked = any(
        case.citation.form in {"statute", "words"}
        or (isinstance(case.target, CitedDocumentRef) and case.target.repeal)
        for case in cases
    )
    return as_of.isoformat() if as_of is not None and is_asked else None


def _encoders_of(encoder: Encoder | Mapping[str, Encoders], namespace: str) -> tuple[Encoder, ...]:
    if not isinstance(encoder, Mapping):
        return (encoder,)
    if namespace not in encoder:
        raise ConfigurationError(
            f"No embedding model was given for the namespace `{namespace}`. Set `embed` in its "
            "configuration."
        )
    given = encoder[namespace]
    return tuple(given) if isinstance(given, Sequence) else (given,)


def remembering(
    encoder: Encoder | Mapping[str, Encoders], names: Sequence[str]
) -> dict[str, tuple[RememberingEncoder, ...]]:
    """Return the encoders of some namespaces, with a memory that those of one model share."""
    shared: dict[str, RememberingEncoder] = {}
    return {
        name: tuple(
            shared.setdefault(model.fingerprint, RememberingEncoder(model))
            for model in _encoders_of(encoder, name)
        )
        for name in names
    }


def judge_cases(cases: Sequence[Case], court: Court) -> tuple[CitationVerdict, ...]:
    """Return a verdict for each case, in order."""
    judgeable = [(c, c.target) for c in cases if isinstance(c.target, CitedDocumentRef)]
    outcomes: dict[int, Outcome] = court.judge(judgeable)
    rows = []
    for case in cases:
        if isinstance(case.target, FaultyCitation):
            rows.append(decide(case, next(iter(court.scorers.values())), None, None, ()))
            continue
        rows.append(
            decide(
                case,
                court.scorers[case.target.namespace],
                court.subject_of(case.target),
                outcomes[case.number],
                _quoted_elsewhere(case, cases, outcomes),
            )
        )
    return tuple(rows)


def _quoted_elsewhere(
    case: Case, cases: Iterable[Case], outcomes: Mapping[int, Outcome]
) -> frozenset[str]:
    """Return quotations of the sentence that another document cited by it prints as quoted."""
    if not case.sentence.quotations:
        return frozenset()
    others = (
        outcomes.get(other.number)
        for other in cases
        if other.sentence.index == case.sentence.index and other.number != case.number
    )
    return frozenset(
        check.text
        for found in others
        if isinstance(found, Judged)
        for check in found.quotations
        if check.state == "exact"
    )


def _consulted(
    draft: Draft, cases: Iterable[Case], listed: Iterable[ListedSource], library: Library
) -> list[str]:
    """Return the namespaces that were looked at: one without a name could be in any of them."""
    named = {case.citation.namespace for case in cases if case.citation.namespace}
    consulted = (set(draft.namespaces) or set(library.publications)) | named
    found = {c.target.namespace for c in cases if isinstance(c.target, CitedDocumentRef)}
    found |= {source.namespace for source in listed}
    return sorted((consulted | found) & set(library.publications))


def _warn(rows: Sequence[CitationVerdict]) -> Iterable[str]:
    by_note: dict[str, list[str]] = {}
    for row in rows:
        if row.scoring_note:
            by_note.setdefault(row.scoring_note, []).append(str(row.number))
    for note, numbers in by_note.items():
        noun = "Row" if len(numbers) == 1 else "Rows"
        yield f"{noun} {', '.join(numbers)}: {note}"
    for row in rows:
        if row.outdated_judgement:
            yield f"Row {row.number}: {row.outdated_judgement}"
    if any(row.locator_quality == "char_anchor" for row in rows):
        yield (
            "Some cited files have no pages: their passages are located by section and "
            "character. Quote the words when you cite them."
        )
