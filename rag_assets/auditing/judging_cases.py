"""Judging what was not judged before: every document opened once, every scorer asked once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag_assets.auditing.articles import find_article, spans_of
from rag_assets.auditing.asking import Ask, choose
from rag_assets.auditing.deciding import Case, Subject, named_article
from rag_assets.auditing.drafts.hints import LocatorHint
from rag_assets.auditing.judged import Judged, PlaceFound
from rag_assets.auditing.library import CitedDocument, CitedDocumentRef, Library, digest_document
from rag_assets.auditing.printed import PrintedText
from rag_assets.auditing.quoting import QuotationCheck, check_quotation, quoted_claim
from rag_assets.auditing.showing import PassagePart, Shown, read_parts, show
from rag_assets.auditing.statutes import cut_to_article, digest_cut
from rag_assets.auditing.verdict_store import VerdictStore, judgement_key
from rag_assets.finding import MOST_WINDOWS, EvidenceFinder, OpenDocument
from rag_assets.judging import Judgement, Scorer, find_frame, hold_to_source
from rag_assets.model import Progress

# Part of a judgement's key: raise it when the same inputs may be judged otherwise.
JUDGING_VERSION = 12
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
        return judgement_key(
            versions=[JUDGING_VERSION],
            finder=self.finder.fingerprint,
            claim=case.claim,
            document=subject.digest,
            scorer=scorer.fingerprint,
            thresholds=[scorer.thresholds.ok, scorer.thresholds.weak],
            most=self.windows_for(scorer),
            hint=_named_place(case.citation.hint),
            quotations=list(case.sentence.quotations),
        )

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
            return show(self.finder.open(parts, document.title).find(claim, most), parts)
        opened, parts = self._open(ref)
        return show(opened.find(claim, most), parts)

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
        and hint.names_page(passage.page_start, passage.page_end or passage.page_start)
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
