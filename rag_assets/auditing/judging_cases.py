"""Judging what was not judged before: every model asked once, every document opened once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rag_assets.auditing.articles import find_article, spans_of
from rag_assets.auditing.asking import Ask, choose, passage_text
from rag_assets.auditing.deciding import Case, Subject, named_article
from rag_assets.auditing.drafts.hints import LocatorHint
from rag_assets.auditing.drafts.sentences import SentenceSplitter
from rag_assets.auditing.judged import Judged, PlaceFound
from rag_assets.auditing.library import (
    CitedDocumentRef,
    Library,
    digest_document,
)
from rag_assets.auditing.listed import find_items
from rag_assets.auditing.printed import PrintedText
from rag_assets.auditing.quoting import check_quotation, quoted_claim
from rag_assets.auditing.ranking import (
    RANKING_VERSION,
    DocumentRanking,
    Encoder,
    Trouble,
    Vectors,
    encode_claims,
    find_trouble,
)
from rag_assets.auditing.standing import without_references
from rag_assets.auditing.verdict_store import VerdictStore, judgement_key
from rag_assets.judging import (
    Abbreviation,
    Scorer,
    find_abbreviations,
    reword,
    spell_out,
)

# Part of a judgement's key: raise it when the same inputs may be judged otherwise.
JUDGING_VERSION = 8

Outcome = Judged | Trouble | None


@dataclass(slots=True)
class Bench:
    """The models and the scorer of one namespace.

    Args:
        encoders: that made the vectors of the publication, in its order.
    """

    encoders: tuple[Encoder, ...]
    scorer: Scorer


@dataclass(slots=True)
class Court:
    """Judges the cases of a draft.

    Args:
        library: the published documents.
        benches: by namespace.
        k: passages that the scorer sees.
        split: finds the sentences of a passage.
        store: judgements made before; gets those made now.
        defined: what the draft abbreviates by definitions of its own.
    """

    library: Library
    benches: Mapping[str, Bench]
    k: int
    split: SentenceSplitter
    store: VerdictStore
    defined: tuple[Abbreviation, ...] = ()
    subjects: dict[tuple[str, str], Subject] = field(default_factory=dict)
    judged_now: int = 0
    _printed: dict[tuple[str, str], PrintedText] = field(default_factory=dict)
    _abbreviations: dict[tuple[str, str], tuple[Abbreviation, ...]] = field(default_factory=dict)

    def subject_of(self, ref: CitedDocumentRef) -> Subject:
        """Return the document with its digest, opened when it is first asked for."""
        key = (ref.namespace, ref.doc_uid)
        if key not in self.subjects:
            document = self.library.load(ref)
            self.subjects[key] = Subject(document, digest_document(document))
        return self.subjects[key]

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
        self.store.put((key, found) for key, found in made.items() if isinstance(found, Judged))
        for key, asked in open_cases.items():
            outcomes.update({case.number: made[key] for case, _ in asked})
        return outcomes

    def _key(self, case: Case, ref: CitedDocumentRef, subject: Subject) -> str:
        bench = self.benches[ref.namespace]
        hint = case.citation.hint
        return judgement_key(
            versions=[JUDGING_VERSION, RANKING_VERSION],
            claim=case.claim,
            spelled_out=spell_out(case.claim, self.defined),
            document=subject.digest,
            scorer=bench.scorer.fingerprint,
            models=[encoder.fingerprint for encoder in bench.encoders],
            thresholds=[bench.scorer.thresholds.ok, bench.scorer.thresholds.weak],
            k=self.k,
            hint=_named_place(hint),
            quotations=list(case.sentence.quotations),
        )

    def _judge_anew(
        self, cases: Mapping[str, tuple[Case, CitedDocumentRef]]
    ) -> dict[str, Judged | Trouble]:
        """Judge cases by key; what one scorer is asked goes in one call."""
        queries = self._encode(cases.values())
        rankings: dict[tuple[str, str], DocumentRanking | Trouble] = {}
        asks: dict[str, list[Ask]] = {}
        made: dict[str, Judged | Trouble] = {}
        for key, (case, ref) in cases.items():
            place = (ref.namespace, ref.doc_uid)
            if place not in rankings:
                rankings[place] = self._open(ref, queries)
            ranking = rankings[place]
            if isinstance(ranking, Trouble):
                made[key] = ranking
                continue
            self.judged_now += 1
            scorer = self.benches[ref.namespace].scorer
            asks.setdefault(scorer.fingerprint, []).extend(
                self._asks(key, case, ref, ranking, queries)
            )
        scorers = {b.scorer.fingerprint: b.scorer for b in self.benches.values()}
        for fingerprint, asked in asks.items():
            judgements = scorers[fingerprint].judge([(ask.claim, ask.texts) for ask in asked])
            answered = list(zip(asked, judgements, strict=True))
            for key in dict.fromkeys(ask.key for ask in asked):
                mine = [(ask, judgement) for ask, judgement in answered if ask.key == key]
                made[key] = choose(mine)
        return self._with_boxes(cases, made)

    def _encode(
        self, cases: Iterable[tuple[Case, CitedDocumentRef]]
    ) -> dict[str, dict[str, Vectors]]:
        """Return the vectors of all claims by the model's fingerprint; each model is asked once."""
        wanted: dict[str, tuple[Encoder, list[str]]] = {}
        for case, ref in cases:
            for encoder in self.benches[ref.namespace].encoders:
                asked = wanted.setdefault(encoder.fingerprint, (encoder, []))[1]
                asked.append(without_references(case.claim))
        return {
            fingerprint: encode_claims(encoder, claims)
            for fingerprint, (encoder, claims) in wanted.items()
        }

    def _open(
        self, ref: CitedDocumentRef, queries: Mapping[str, Mapping[str, Vectors]]
    ) -> DocumentRanking | Trouble:
        document, vectors = self.subject_of(ref).document, self.library.load_vectors(ref)
        dimensions = {
            fingerprint: next(iter(claims.values())).shape[0]
            for fingerprint, claims in queries.items()
            if claims
        }
        trouble = find_trouble(document, vectors, dimensions)
        return (
            trouble
            if trouble is not None
            else DocumentRanking([passage.text for passage in document.passages], vectors)
        )

    def _asks(
        self,
        key: str,
        case: Case,
        ref: CitedDocumentRef,
        ranking: DocumentRanking,
        queries: Mapping[str, Mapping[str, Vectors]],
    ) -> "Iterator[Ask]":
        """Yield what the scorer is asked: the pages that the citation names, then everything.

        A claim is asked with and without the abbreviations that the document defines, and with
        those of the draft in full.
        """
        document = self.subject_of(ref).document
        checks = tuple(
            check_quotation(quotation, self._printed_text(ref))
            for quotation in case.sentence.quotations
        )
        quoted = {chunk for check in checks for chunk in check.chunk_ids}
        models = [encoder.fingerprint for encoder in self.benches[ref.namespace].encoders]
        stated = quoted_claim(case.claim, checks)
        # Quoted words are what they are.
        others = [] if checks else self._rewordings(case.claim, ref)
        asked = without_references(case.claim)
        vectors = {m: queries[m][asked] for m in models if asked in queries[m]}

        def ask(
            among: Sequence[int],
            place: PlaceFound | None,
            spans: Mapping[int, tuple[int, int]] = MappingProxyType({}),
        ) -> Iterator[Ask]:
            first = ask_as(stated, case.claim, among, place, spans)
            yield first
            for worded in others:
                yield ask_as(worded, worded, among, place, spans)
            items = find_items(document, first.chosen)
            if items:
                yield first.about_items(items)

        def ask_as(
            stated: str,
            ranked: str,
            among: Sequence[int],
            place: PlaceFound | None,
            spans: Mapping[int, tuple[int, int]],
        ) -> Ask:
            best = ranking.rank(ranked, vectors, among, self.k)
            # Where words are quoted from must be looked at, however the rest compares.
            first = [i for i in among if document.passages[i].chunk_id in quoted]
            chosen = list(dict.fromkeys((*first, *best)))[: max(self.k, len(first))]
            parts = [spans.get(i, (0, len(document.passages[i].text))) for i in chosen]
            texts = [
                passage_text(document, i, self.split, part)
                for i, part in zip(chosen, parts, strict=True)
            ]
            starts = tuple(start for start, _ in parts)
            return Ask(key, stated, tuple(chosen), tuple(texts), starts, place, checks)

        everything = range(len(document.passages))
        hint, article = case.citation.hint, named_article(case, document)
        if article is not None:
            parts = spans_of(document, article)
            if parts:
                yield from ask(list(parts), "as_named", parts)
            yield from ask(everything, "elsewhere")
            return
        if hint is None:
            yield from ask(everything, None)
            return
        named = [
            i
            for i, passage in enumerate(document.passages)
            if passage.page_start is not None
            and hint.names_page(passage.page_start, passage.page_end or passage.page_start)
        ]
        if not named:
            yield from ask(everything, "unchecked")
            return
        yield from ask(named, "as_named")
        yield from ask(everything, "elsewhere")

    def _rewordings(self, claim: str, ref: CitedDocumentRef) -> list[str]:
        theirs = self._abbreviations_of(ref)
        known = {one.short for one in theirs}
        spelled = spell_out(claim, [one for one in self.defined if one.short not in known])
        worded = [*reword(claim, theirs), spelled, *reword(spelled, theirs)]
        return [text for text in dict.fromkeys(worded) if text != claim]

    def _abbreviations_of(self, ref: CitedDocumentRef) -> tuple[Abbreviation, ...]:
        key = (ref.namespace, ref.doc_uid)
        if key not in self._abbreviations:
            passages = self.subject_of(ref).document.passages
            self._abbreviations[key] = find_abbreviations(passage.text for passage in passages)
        return self._abbreviations[key]

    def _printed_text(self, ref: CitedDocumentRef) -> PrintedText:
        key = (ref.namespace, ref.doc_uid)
        if key not in self._printed:
            self._printed[key] = PrintedText(self.subject_of(ref).document)
        return self._printed[key]

    def _with_boxes(
        self,
        cases: Mapping[str, tuple[Case, CitedDocumentRef]],
        made: Mapping[str, Judged | Trouble],
    ) -> dict[str, Judged | Trouble]:
        """Return the judgements with the rectangles of their sentences, document by document."""
        result = dict(made)
        by_document: dict[CitedDocumentRef, list[tuple[str, Judged, tuple[int, int]]]] = {}
        for key, judged in made.items():
            if not isinstance(judged, Judged):
                continue
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


def _named_place(hint: LocatorHint | None) -> list[tuple[object, ...]] | None:
    if hint is None:
        return None
    article = find_article(hint.text)
    return [*hint.pages, *([(article.key, article.paragraph, article.item)] if article else [])]
