"""Verification of a draft's citations (spec 000 §4.8)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rag_assets.auditing.draft import Draft, SentenceSplitter, default_splitter
from rag_assets.auditing.library import (
    CitedDocument,
    CitedDocumentRef,
    FaultyCitation,
    Library,
    resolve_citation,
)
from rag_assets.auditing.ranking import (
    MAX_UNKNOWN_SHARE,
    Encoder,
    Shortlist,
    Vectors,
    find_by_coverage,
    find_by_similarity,
    find_trouble,
    sentence_spans,
    shortlist,
)
from rag_assets.auditing.record import CitationAudit, identify_audit
from rag_assets.auditing.verdict import (
    Case,
    CitationVerdict,
    Finding,
    Thresholds,
    Trouble,
    judge,
    thresholds_from,
)
from rag_assets.model import ConfigurationError, UsageError
from rag_assets.workspace.settings import VerifySettings


def verify_citations(
    draft: Draft,
    library: Library,
    encoder: Encoder | Mapping[str, Encoder],
    settings: VerifySettings,
    split: SentenceSplitter | None = None,
) -> CitationAudit:
    """Judge every citation of a draft against the document that it cites, and no other text.

    Passages are ranked within their document, without statistics of the index, so that files
    which the draft does not cite change no verdict.

    Args:
        draft: as `read_draft` returns it.
        library: the published documents.
        encoder: the model that made the library's vectors; by namespace where they differ.
        settings: k and the two thresholds.
        split: finds the sentences of passages; the one of `rag_assets.chunking` where None.

    Raises:
        UsageError: the draft's front matter names a namespace that is not published.
        ConfigurationError: the thresholds contradict each other, a namespace has no encoder, or
            the model returned vectors that cannot be compared.
    """
    if settings.weak_threshold > settings.threshold:
        raise ConfigurationError(
            f"verify.weak_threshold ({settings.weak_threshold}) must not lie above "
            f"verify.threshold ({settings.threshold})."
        )
    _require_published(draft, library)
    limits = thresholds_from(settings.threshold, settings.weak_threshold)
    cases = _make_cases(draft, library, limits)
    desks = _open_desks(cases, library, encoder, settings.k, split or default_splitter())
    rows = tuple(_judge_case(case, desks) for case in cases)
    publications, fingerprints = _origins(draft, cases, library, encoder)
    return CitationAudit(
        draft_name=draft.name,
        draft_digest=draft.digest,
        audit_id=identify_audit(
            draft.digest, publications, fingerprints, settings.model_dump(mode="json")
        ),
        publications=publications,
        encoders=fingerprints,
        scorer=settings.scorer,
        k=settings.k,
        threshold=limits.ok,
        threshold_origin=limits.ok_origin,
        weak_threshold=limits.weak,
        weak_threshold_origin=limits.weak_origin,
        rows=rows,
        warnings=(*draft.warnings, *_warn(rows)),
    )


def _require_published(draft: Draft, library: Library) -> None:
    for namespace in draft.namespaces:
        if namespace not in library.publications:
            known = ", ".join(sorted(library.publications)) or "none yet"
            raise UsageError(
                f"{draft.name}: its front matter names the namespace `{namespace}`, which has no "
                f"publication (published: {known}). Correct the name, or run "
                f"`rag ingest --namespace {namespace}`."
            )


def _make_cases(draft: Draft, library: Library, limits: Thresholds) -> list[Case]:
    cases: list[Case] = []
    targets: dict[str, CitedDocumentRef | FaultyCitation] = {}
    for sentence in draft.sentences:
        # A document cited twice in one sentence is asked once.
        asked = {citation.label: citation for citation in sentence.citations}
        for label, citation in asked.items():
            if label not in targets:
                targets[label] = resolve_citation(citation, library, draft.namespaces)
            cases.append(Case(len(cases) + 1, sentence, citation, targets[label], limits))
    return cases


@dataclass(slots=True)
class _Desk:
    """All that one model has to compare, encoded in two batches."""

    encoder: Encoder
    k: int
    split: SentenceSplitter
    documents: dict[tuple[str, str], CitedDocument] = field(default_factory=dict)
    claims: dict[str, Vectors | None] = field(default_factory=dict)
    sentences: dict[str, Vectors] = field(default_factory=dict)
    shortlists: dict[int, Shortlist | Trouble | None] = field(default_factory=dict)
    _known: dict[str, bool] = field(default_factory=dict)

    def knows(self, text: str) -> bool:
        """Say whether the model knows enough of the tokens of `text`."""
        if text not in self._known:
            self._known[text] = self.encoder.unknown_share(text) <= MAX_UNKNOWN_SHARE
        return self._known[text]

    def compare(self, cases: Sequence[Case]) -> None:
        """Encode the claims, shortlist passages, encode the sentences of those."""
        readable = [c.sentence.claim for c in cases if c.sentence.claim]
        readable = [claim for claim in dict.fromkeys(readable) if self.knows(claim)]
        self.claims.update(zip(readable, self._encode_claims(readable), strict=True))
        for case in cases:
            self.shortlists[case.number] = self._shortlist(case)
        wanted = dict.fromkeys(
            passage.text[slice(*span)]
            for found in self.shortlists.values()
            if isinstance(found, Shortlist)
            for passage in found.passages
            for span in sentence_spans(passage, self.split)
        )
        texts = list(wanted)
        if texts:
            vectors = _checked(self.encoder.encode_passages(texts), texts)
            self.sentences.update(zip(texts, vectors, strict=True))

    def _encode_claims(self, claims: list[str]) -> Vectors | list[Vectors]:
        return _checked(self.encoder.encode_queries(claims), claims) if claims else []

    def _shortlist(self, case: Case) -> Shortlist | Trouble | None:
        document, query = self.document_of(case), self.claims.get(case.sentence.claim)
        if document is None or query is None:
            return None
        trouble = find_trouble(document, query.shape[0])
        if trouble is not None:
            return trouble
        readable = [self.knows(passage.text) for passage in document.passages]
        return shortlist(document, readable, query, self.k)

    def document_of(self, case: Case) -> CitedDocument | None:
        """Return the document that `case` cites, None where the citation is faulty."""
        if isinstance(case.target, FaultyCitation):
            return None
        return self.documents[case.target.namespace, case.target.doc_uid]

    def find(self, case: Case) -> Finding | Trouble | None:
        """Return the best passage for `case`, by meaning where the model can read both."""
        document, claim = self.document_of(case), case.sentence.claim
        if document is None or not claim:
            return None
        found = self.shortlists[case.number]
        if isinstance(found, Trouble):
            return found
        query = self.claims.get(claim)
        if query is not None and found is not None and (found.passages or not found.unreadable):
            return find_by_similarity(found, query, self.sentences, self.split)
        unread = "this sentence" if query is None else f"`{document.doc_uid}`"
        note = (
            f"Words were compared, not meaning: the embedding model does not know most of the "
            f"words of {unread}."
        )
        return find_by_coverage(document, claim, note, self.split)


def _checked(vectors: Vectors, texts: Sequence[str]) -> Vectors:
    if vectors.ndim != 2 or vectors.shape[0] != len(texts):
        raise ConfigurationError(
            f"The embedding model returned the shape {vectors.shape} for {len(texts)} texts. "
            "`rag doctor` checks the model."
        )
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise ConfigurationError(
            "The embedding model returned a number that is not finite for "
            f"{texts[int(np.argmin(finite))]!r}. `rag doctor` checks the model."
        )
    return vectors


def _encoder_of(encoder: Encoder | Mapping[str, Encoder], namespace: str) -> Encoder:
    if not isinstance(encoder, Mapping):
        return encoder
    if namespace not in encoder:
        raise ConfigurationError(
            f"No embedding model was given for the namespace `{namespace}`. Set `embed` in its "
            "configuration."
        )
    return encoder[namespace]


def _open_desks(
    cases: Sequence[Case],
    library: Library,
    encoder: Encoder | Mapping[str, Encoder],
    k: int,
    split: SentenceSplitter,
) -> dict[str, _Desk]:
    """Return the desk of each cited namespace; namespaces of one model share theirs."""
    by_model: dict[str, tuple[_Desk, list[Case]]] = {}
    desks: dict[str, _Desk] = {}
    for case in cases:
        if isinstance(case.target, FaultyCitation):
            continue
        ref = case.target
        model = _encoder_of(encoder, ref.namespace)
        desk, work = by_model.setdefault(model.fingerprint, (_Desk(model, k, split), []))
        desks[ref.namespace] = desk
        if (ref.namespace, ref.doc_uid) not in desk.documents:
            desk.documents[ref.namespace, ref.doc_uid] = library.load(ref)
        work.append(case)
    for desk, work in by_model.values():
        desk.compare(work)
    return desks


def _judge_case(case: Case, desks: Mapping[str, _Desk]) -> CitationVerdict:
    if isinstance(case.target, FaultyCitation):
        return judge(case, None, None)
    desk = desks[case.target.namespace]
    return judge(case, desk.document_of(case), desk.find(case))


def _origins(
    draft: Draft,
    cases: Iterable[Case],
    library: Library,
    encoder: Encoder | Mapping[str, Encoder],
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return what could have changed a verdict: publications and models by namespace.

    A draft without namespaces could have found its uids in any of them.
    """
    named = {case.citation.namespace for case in cases if case.citation.namespace}
    consulted = (set(draft.namespaces) or set(library.publications)) | named
    namespaces = sorted(consulted & set(library.publications))
    return (
        tuple((name, library.publications[name]) for name in namespaces),
        tuple((name, _encoder_of(encoder, name).fingerprint) for name in namespaces),
    )


def _warn(rows: Sequence[CitationVerdict]) -> Iterable[str]:
    numbers = [str(row.number) for row in rows if row.scored_by == "coverage"]
    if numbers:
        noun = "Row" if len(numbers) == 1 else "Rows"
        yield (
            f"{noun} {', '.join(numbers)}: the embedding model cannot read the language, so words "
            "in common were counted. The thresholds were not made for that; read the passages."
        )
    if any(row.locator_quality == "char_anchor" for row in rows):
        yield (
            "Some cited files have no pages: their passages are located by section and "
            "character. Quote the words when you cite them."
        )
