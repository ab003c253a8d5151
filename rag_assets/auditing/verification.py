"""Verification of citations (spec 000 §4.8): documents opened, scorers asked, verdicts kept."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_assets.auditing.citation_forms import Citation, LocatorHint
from rag_assets.auditing.deciding import (
    Case,
    Judged,
    PassagePart,
    PlaceFound,
    Shown,
    Subject,
    decide,
    named_article,
    read_parts,
)
from rag_assets.auditing.draft import CitedSentence, Draft
from rag_assets.auditing.judgements import Judgements, join_judgements
from rag_assets.auditing.library import (
    CitedDocument,
    CitedDocumentRef,
    FaultyCitation,
    Library,
    References,
    cut_to_article,
    digest_cut,
    digest_document,
    find_article,
    resolve_citation,
    spans_of,
)
from rag_assets.auditing.quoting import PrintedText, QuotationCheck, check_quotation, quoted_claim
from rag_assets.auditing.record import CitationAudit, CitationVerdict, ListedSource, identify_audit
from rag_assets.judging import (
    Judgement,
    PassageText,
    Scorer,
    TextEncoder,
    find_frame,
    hold_to_source,
    load_scorer,
)
from rag_assets.model import ConfigurationError, Progress, UsageError, hash_fields
from rag_assets.model.settings import VerifySettings
from rag_assets.retrieval.finding import MOST_WINDOWS, EvidenceFinder, OpenDocument
from rag_assets.storage import LocalStore, Notify, hold_lock, update
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# Results of an audit that cost time, kept in a file by the hash of all that decides them.

# A result that no audit has asked for so long is made again when it is.
KEPT_DAYS = 180

Result = TypeVar("Result")


@dataclass(slots=True)
class ResultStore(Generic[Result]):
    """Results in memory, read from and written to one file. A subclass says which they are.

    Args:
        store: None keeps them in memory only.
        key: of the file.
        lock: held while it is written.
    """

    what: ClassVar[str]
    most: ClassVar[int]
    kind: ClassVar[Any]

    store: LocalStore | None = None
    key: str = ""
    lock: Path | None = None
    # By key the day of the last use and the result as JSON; what was added or asked for since.
    _kept: dict[str, tuple[str, Any]] = field(default_factory=dict)
    _touched: dict[str, tuple[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the file. What a damaged line held is made again."""
        found = self.store.get(self.key) if self.store is not None else None
        self._kept = _parse(found.data if found else None)

    def find(self, key: str) -> Result | None:
        """Return the result with this key, None where there is none."""
        kept = self._touched.get(key) or self._kept.get(key)
        if kept is None:
            return None
        try:
            found: Result = _adapter(self.kind).validate_python(kept[1])
        except ValueError:
            return None  # of another version of the product: it is made again
        if kept[0] != _today().isoformat():
            self._touched[key] = _today().isoformat(), kept[1]
        return found

    def put(self, results: Iterable[tuple[str, Result]]) -> None:
        """Add results by key."""
        day = _today().isoformat()
        self._touched |= {
            key: (day, _adapter(self.kind).dump_python(result)) for key, result in results
        }

    def save(self, notify: Notify) -> None:
        """Write what was added or asked for, beside what others have written since; prune."""
        if self.store is None or self.lock is None or not self._touched:
            return

        def merge(found: bytes | None) -> bytes:
            self._kept = _parse(found) | self._touched
            oldest = date.fromordinal(_today().toordinal() - KEPT_DAYS).isoformat()
            living = [key for key, (used, _) in self._kept.items() if used >= oldest]
            living.sort(key=lambda key: (self._kept[key][0], key), reverse=True)
            lines = (
                json.dumps({"key": key, "used": used, "result": result}, ensure_ascii=False)
                for key in sorted(living[: self.most])
                for used, result in [self._kept[key]]
            )
            return "".join(f"{line}\n" for line in lines).encode()

        with hold_lock(self.lock, self.what, notify):
            update(self.store, self.key, merge)
        self._touched = {}


def _today() -> date:
    return datetime.now(UTC).date()


@cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _parse(data: bytes | None) -> dict[str, tuple[str, Any]]:
    kept: dict[str, tuple[str, Any]] = {}
    for line in (data or b"").decode("utf-8", "replace").splitlines():
        try:
            entry = json.loads(line)
            kept[entry["key"]] = entry["used"], entry["result"]
        except (json.JSONDecodeError, KeyError, TypeError):
            continue  # what is kept here can be made again
    return kept


class VerdictStore(ResultStore[Judged]):
    """Judgements of citations by the hash of all that decides them."""

    what: ClassVar[str] = "judgements of citations"
    most: ClassVar[int] = 20_000  # about 50 MB; a thesis has some hundreds
    kind: ClassVar[Any] = Judged


def open_verdicts(workspace: Workspace) -> VerdictStore:
    """Return the judgements that a workspace keeps."""
    return VerdictStore(
        workspace.store,
        workspace.key_of(workspace.judgements / "judgements.jsonl"),
        workspace.locks / "citation_judgements.lock",
    )


# Models that the scorer `similarity` asks; the others ask none.

Vectors = NDArray[np.float32]


class RememberingEncoder:
    """An encoder that is asked for each text once.

    Args:
        encoder: the model.
    """

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder
        self._queries: dict[str, Vectors] = {}
        self._passages: dict[str, Vectors] = {}
        self._shares: dict[str, float] = {}

    @property
    def fingerprint(self) -> str:
        """Return what identifies the model and its configuration."""
        return self._encoder.fingerprint

    def encode_queries(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        return _remembered(texts, self._queries, self._encoder.encode_queries)

    def encode_passages(self, texts: list[str]) -> Vectors:
        """Return unit vectors, float32, shape (len(texts), dimension)."""
        return _remembered(texts, self._passages, self._encoder.encode_passages)

    def unknown_share(self, text: str) -> float:
        """Return the share, 0 to 1, of the tokens of `text` that the model does not know."""
        if text not in self._shares:
            self._shares[text] = self._encoder.unknown_share(text)
        return self._shares[text]


def _remembered(
    texts: list[str], known: dict[str, Vectors], encode: Callable[[list[str]], Vectors]
) -> Vectors:
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if new:
        vectors = encode(new)
        if vectors.ndim != 2 or vectors.shape[0] != len(new):
            return vectors  # the caller says what is wrong with it
        known.update(zip(new, vectors, strict=True))
    return np.stack([known[text] for text in texts])


# What scorers are asked about a citation, and which of their answers counts.

_RANKS = {"OK": 2, "WEAK": 1, "MISSING": 0}


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a scorer: windows of the document, best first, as `texts` read them."""

    key: str
    claim: str
    shown: tuple[Shown, ...]
    texts: tuple[PassageText, ...]
    place: PlaceFound | None
    checks: tuple[QuotationCheck, ...]


def choose(answers: Sequence[tuple[Ask, Judgement]]) -> Judged:
    """Return the judgement of the pages that were named, unless all of the document has a better,
    or one as weak that scores higher.

    A contradiction on the named page counts: it is not outvoted by another page.
    """
    ask, judgement = answers[0]
    for other, found in answers[1:]:
        rank, other_rank = _RANKS[judgement.status], _RANKS[found.status]
        is_nearer = rank == other_rank == _RANKS["WEAK"] and found.score > judgement.score
        if (other_rank > rank or is_nearer) and judgement.reason_code != "contradicted":
            ask, judgement = other, found
    return Judged(
        judgement.score,
        judgement.status,
        judgement.reason_code,
        judgement.reason,
        *ask.shown[judgement.passage].place_of(judgement.span),
        judgement.speaks_for,
        judgement.speaks_against,
        (),
        judgement.note,
        ask.place,
        ask.checks,
        tuple(each.kept() for each in ask.shown),
        ask.shown[judgement.passage].row_of(judgement.span),
    )


# Judging what was not judged before: every document opened once, every scorer asked once.

# Part of a judgement's key: raise it when the same inputs may be judged otherwise.
JUDGING_VERSION = 14
# Progress is told between so many questions.
_AT_ONCE = 4

Outcome = Judged | None
Spans = Mapping[int, tuple[int, int]]


@dataclass(slots=True)
class Court:
    """Judges the cases of a draft.

    Args:
        library: the published documents.
        scorers: by namespace.
        k: windows that `similarity` sees (spec 000); the other scorers see three.
        store: judgements made before; gets those made now.
        on_progress: told while evidence is sought and while it is read.
    """

    library: Library
    scorers: Mapping[str, Scorer]
    k: int
    store: VerdictStore
    on_progress: Progress | None = None
    finder: EvidenceFinder = field(default_factory=EvidenceFinder)
    subjects: dict[CitedDocumentRef, Subject] = field(default_factory=dict)
    judged_now: int = 0
    _printed: dict[CitedDocumentRef, PrintedText] = field(default_factory=dict)
    _opened: dict[CitedDocumentRef, tuple[OpenDocument, tuple[PassagePart, ...]]] = field(
        default_factory=dict
    )

    def subject_of(self, ref: CitedDocumentRef) -> Subject:
        """Return the document with its digest, opened when it is first asked for; where one article
        is cited, no more of it than that.
        """
        if ref not in self.subjects:
            document = self.library.load(ref)
            digest = digest_document(document) if ref.article is None else ""
            if ref.article is not None:
                document = cut_to_article(document, ref.article)
                digest = digest_cut(document, ref.article)
            self.subjects[ref] = Subject(document, digest)
        return self.subjects[ref]

    def judge(self, cases: Sequence[tuple[Case, CitedDocumentRef]]) -> dict[int, Outcome]:
        """Return what was found out about each case, by its number."""
        outcomes: dict[int, Outcome] = {}
        open_cases: dict[str, list[tuple[Case, CitedDocumentRef]]] = {}
        for case, ref in cases:
            subject = self.subject_of(ref)
            if not case.claim or not subject.document.passages:
                outcomes[case.number] = None
                continue
            key = self._key(case, ref, subject)
            found = self.store.find(key)
            if found is not None:
                outcomes[case.number] = found
            else:
                open_cases.setdefault(key, []).append((case, ref))
        firsts = {key: asked[0] for key, asked in open_cases.items()}
        made = self._judge_anew(firsts)
        self.store.put(made.items())
        for key, asked in open_cases.items():
            outcomes.update({case.number: made.get(key) for case, _ in asked})
        return outcomes

    def _key(self, case: Case, ref: CitedDocumentRef, subject: Subject) -> str:
        scorer = self.scorers[ref.namespace]
        return hash_fields({
            "versions": [JUDGING_VERSION],
            "finder": self.finder.fingerprint,
            "claim": case.claim,
            "document": subject.digest,
            "scorer": scorer.fingerprint,
            "thresholds": [scorer.thresholds.ok, scorer.thresholds.weak],
            "most": self.windows_for(scorer),
            "hint": _named_place(case.citation.hint),
            "quotations": list(case.sentence.quotations),
        })  # fmt: skip

    def windows_for(self, scorer: Scorer) -> int:
        """Return how many windows of a document a scorer sees at most, quoted places apart."""
        return self.k if scorer.name == "similarity" else MOST_WINDOWS

    def _judge_anew(self, cases: Mapping[str, tuple[Case, CitedDocumentRef]]) -> dict[str, Judged]:
        """Judge cases by key; a scorer is asked about several at once.

        A case whose document states nothing is left out.
        """
        asks: dict[str, list[Ask]] = {}
        for done, (key, (case, ref)) in enumerate(cases.items()):
            self._tell("finding evidence", done, len(cases))
            self.judged_now += 1
            scorer = self.scorers[ref.namespace]
            asks.setdefault(scorer.fingerprint, []).extend(self._asks(key, case, ref))
        made: dict[str, Judged] = {}
        scorers = {scorer.fingerprint: scorer for scorer in self.scorers.values()}
        for fingerprint, asked in asks.items():
            judgements: list[Judgement] = []
            for begin in range(0, len(asked), _AT_ONCE):
                self._tell("reading it", begin, len(asked))
                batch = asked[begin : begin + _AT_ONCE]
                judgements += scorers[fingerprint].judge([(ask.claim, ask.texts) for ask in batch])
            answered = [
                (ask, self._held(ask, found, cases[ask.key], scorers[fingerprint]))
                for ask, found in zip(asked, judgements, strict=True)
            ]
            for key in dict.fromkeys(ask.key for ask in asked):
                made[key] = choose([(ask, found) for ask, found in answered if ask.key == key])
        return self._with_boxes(cases, made)

    def _held(
        self, ask: Ask, found: Judgement, asked: tuple[Case, CitedDocumentRef], scorer: Scorer
    ) -> Judgement:
        """Return a judgement as far as the document asserts the words itself."""
        case, ref = asked
        opened, parts = self._open(ref)
        quoted = [check.text for check in ask.checks if check.state == "exact"]
        frames = (
            find_frame(words, case.claim, opened.sentences, parts) for words in (ask.claim, *quoted)
        )
        frame = next(filter(None, frames), None)
        return hold_to_source(found, scorer.thresholds, frame, ask.claim, ask.texts)

    def _tell(self, what: str, done: int, total: int) -> None:
        if self.on_progress and total:
            self.on_progress(what, done, total)

    def _asks(self, key: str, case: Case, ref: CitedDocumentRef) -> Iterator[Ask]:
        """Yield what the scorer is asked: the place that the citation names, then everything."""
        document = self.subject_of(ref).document
        checks = tuple(
            check_quotation(quotation, self._printed_text(ref))
            for quotation in case.sentence.quotations
        )
        stated = quoted_claim(case.claim, checks)
        most = self.windows_for(self.scorers[ref.namespace])
        for spans, place in _places(case, document):
            found = self._find(case.claim, ref, spans, most)
            # Where words are quoted from must be looked at, however the rest compares.
            quoted = self._find(case.claim, ref, _quoted(document, checks, spans), 1)
            shown = _first_of_each([*quoted, *found])[: max(most, len(quoted))]
            if shown:
                texts = tuple(each.as_passage(document.title) for each in shown)
                yield Ask(key, stated, shown, texts, place, checks)

    def _find(
        self, claim: str, ref: CitedDocumentRef, spans: Spans | None, most: int
    ) -> tuple[Shown, ...]:
        """Return windows of some spans of a document, or of all of it for None."""
        if spans is not None:
            document = self.subject_of(ref).document
            parts = read_parts(document, spans) if spans else ()
            opened = self.finder.open(parts, document.title)
        else:
            opened, parts = self._open(ref)
        return tuple(Shown(window, parts) for window in opened.find(claim, most))

    def _open(self, ref: CitedDocumentRef) -> tuple[OpenDocument, tuple[PassagePart, ...]]:
        if ref not in self._opened:
            document = self.subject_of(ref).document
            parts = read_parts(document)
            self._opened[ref] = (self.finder.open(parts, document.title), parts)
        return self._opened[ref]

    def _printed_text(self, ref: CitedDocumentRef) -> PrintedText:
        if ref not in self._printed:
            self._printed[ref] = PrintedText(self.subject_of(ref).document)
        return self._printed[ref]

    def _with_boxes(
        self, cases: Mapping[str, tuple[Case, CitedDocumentRef]], made: Mapping[str, Judged]
    ) -> dict[str, Judged]:
        """Return the judgements with the rectangles of their sentences, document by document."""
        result = dict(made)
        by_document: dict[CitedDocumentRef, list[tuple[str, Judged, tuple[int, int]]]] = {}
        for key, judged in made.items():
            ref = cases[key][1]
            start = self.subject_of(ref).document.passages[judged.passage].char_start
            if start is not None:
                span = (start + judged.start, start + judged.end)
                by_document.setdefault(ref, []).append((key, judged, span))
        for ref, found in by_document.items():
            boxes = self.library.find_boxes(ref, [span for *_, span in found])
            for (key, judged, _), around in zip(found, boxes, strict=True):
                result[key] = replace(judged, boxes=tuple(around))
        return result


def _places(
    case: Case, document: CitedDocument
) -> Iterator[tuple[Spans | None, PlaceFound | None]]:
    """Yield where to look, None for everywhere, and what that is to the citation."""
    hint, article = case.citation.hint, named_article(case, document)
    if article is not None:
        spans = spans_of(document, article)
        if spans:
            yield spans, "as_named"
        yield None, "elsewhere"
        return
    if hint is None:
        yield None, None
        return
    named = {
        i: (0, len(passage.text))
        for i, passage in enumerate(document.passages)
        if passage.page_start is not None
        and hint.names_page(
            passage.page_start, passage.page_end or passage.page_start, document.page_labels
        )
    }
    if not named:
        yield None, "unchecked"
        return
    yield named, "as_named"
    yield None, "elsewhere"


def _quoted(
    document: CitedDocument, checks: Sequence[QuotationCheck], spans: Spans | None
) -> Spans:
    """Return the passages, among those looked at, that quotations stand in."""
    chunks = {chunk for check in checks for chunk in check.chunk_ids}
    return {
        i: (0, len(passage.text)) if spans is None else spans[i]
        for i, passage in enumerate(document.passages)
        if passage.chunk_id in chunks and (spans is None or i in spans)
    }


def _first_of_each(shown: Sequence[Shown]) -> tuple[Shown, ...]:
    by_text = {each.window.text: each for each in reversed(shown)}
    return tuple(by_text[text] for text in dict.fromkeys(each.window.text for each in shown))


def _named_place(hint: LocatorHint | None) -> list[tuple[object, ...]] | None:
    if hint is None:
        return None
    article = find_article(hint.text)
    return [*hint.pages, *([(article.key, article.paragraph, article.item)] if article else [])]


# Verification of a draft's citations (spec 000 §4.8).

Encoders = TextEncoder | Sequence[TextEncoder]


def verify_citations(
    draft: Draft,
    library: Library,
    encoder: TextEncoder | Mapping[str, Encoders],
    settings: VerifySettings,
    *,
    store: VerdictStore | None = None,
    make_scorer: Callable[[VerifySettings, TextEncoder], Scorer] = load_scorer,
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


# What tells citations apart whose document is looked up: words, and the entries that they mean.
CitedAs = tuple[str, tuple[int, ...]]


def cited_as(citation: Citation) -> CitedAs:
    """Return by what a citation is looked up."""
    return citation.label, citation.entries


def make_cases(draft: Draft, library: Library) -> tuple[list[Case], tuple[ListedSource, ...]]:
    """Return what is to be judged, and what the draft's list of sources holds.

    An entry of that list is no claim; one that cannot be resolved is a case all the same, so that
    a wrong uid is seen.
    """
    cases: list[Case] = []
    listed: dict[tuple[str, str], ListedSource] = {}
    targets: dict[CitedAs, CitedDocumentRef | FaultyCitation] = {}
    references = References(draft.references, library, draft.namespaces)
    for sentence in draft.sentences:
        # A document cited twice for the same words is asked once.
        asked: dict[tuple[object, ...], Citation] = {}
        for one in sentence.citations:
            asked.setdefault((one.entries or one.label, one.claim, one.hint), one)
        for citation in asked.values():
            label = cited_as(citation)
            if label not in targets:
                targets[label] = resolve_citation(citation, library, draft.namespaces, references)
            if citation.form == "words" and _is_cited_besides(citation, sentence, targets):
                continue
            cases.append(Case(len(cases) + 1, sentence, citation, targets[label]))
    for entry in draft.listed:
        for label, citation in {cited_as(c): c for c in entry.citations}.items():
            if label not in targets:
                targets[label] = resolve_citation(citation, library, draft.namespaces, references)
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
    targets: Mapping[CitedAs, CitedDocumentRef | FaultyCitation],
) -> bool:
    """Say whether an article that a sentence names in words is what a mark of it cites, or is not
    known beside a mark: that one is judged.
    """
    own = targets[cited_as(citation)]
    others = [targets.get(cited_as(one)) for one in sentence.citations if one.form != "words"]
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


def _encoders_of(
    encoder: TextEncoder | Mapping[str, Encoders], namespace: str
) -> tuple[TextEncoder, ...]:
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
    encoder: TextEncoder | Mapping[str, Encoders], names: Sequence[str]
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
    judged = [str(row.number) for row in rows if row.person and row.person.is_agent]
    if judged:
        noun = "Row" if len(judged) == 1 else "Rows"
        yield (
            f"{noun} {', '.join(judged)}: judged by an AI agent, not by a person. Compare its "
            "quotation with the sentence, and accept or correct the verdict in `rag desk`."
        )
    if any(row.locator_quality == "char_anchor" for row in rows):
        yield (
            "Some cited files have no pages: their passages are located by section and "
            "character. Quote the words when you cite them."
        )
