"""How much of an answer the best chunks hold, and how texts are cut."""

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chunking.corpus_search import METHODS, CorpusSearch, SearchedChunk
from benchmarks.chunking.questions import (
    PassageSet,
    place_references,
    read_passage_set,
)
from benchmarks.chunking.report import FOUND, OWN, TOP_K, report_chunking
from benchmarks.chunking.spans import Recovered, intersection, score_spans, touching
from benchmarks.chunking.splitters import split_recursively
from benchmarks.chunking.vectors import VectorCache, name_progress
from rag_assets.chunking import chunk_document, model_input
from rag_assets.embedding import (
    EmbeddingModel,
    EmbeddingTokenizer,
    can_read,
    embedding_models,
    joint_tokenizer,
    load_query_encoder,
)
from rag_assets.evaluation.knowledge_evaluator import (
    CutText,
    Span,
    describe_cuts,
    sentence_spans,
    total,
    union,
)
from rag_assets.evaluation.report import (
    EvaluationReport,
    Figure,
    mean,
    share,
)
from rag_assets.model import Chunk, ParsedDocument, Progress
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import Settings

_BASELINE_SIZE = 200  # tokens: what most comparisons take, and our own target


@dataclass(frozen=True, slots=True)
class _Corpus:
    """A corpus as parsed, with its questions.

    Args:
        references: of each question, in characters of the clean text.
        lost_characters: of each question's references that the clean text does not hold.
    """

    name: str
    document: ParsedDocument
    token_spans: tuple[Span, ...]
    questions: tuple[str, ...]
    references: tuple[tuple[Span, ...], ...]
    lost_characters: tuple[int, ...]

    @property
    def text(self) -> str:
        return self.document.text


@dataclass(frozen=True, slots=True)
class _Splitting:
    """How one way to split cuts a corpus.

    Args:
        inputs: what the embedder is given for each chunk.
        tokens: of each chunk.
    """

    chunks: tuple[SearchedChunk, ...]
    inputs: tuple[str, ...]
    tokens: tuple[int, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        return tuple((chunk.start, chunk.end) for chunk in self.chunks)


_Scores = dict[str, dict[str, list[Recovered]]]
"""Method → corpus → one score a question."""


def evaluate_chunking(
    folder: Path,
    settings: Settings,
    *,
    cache: Path | None = None,
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Chunk each corpus, find the five best chunks for every question, score their characters.

    Each corpus gets a search table of its own, and a question is put to that of its corpus with
    the product's search: `recall` and the like are by the configured method, those of every
    method stand beside. The baseline, the recursive splitter at 200 tokens, runs over
    the same clean text with the same embedders and search.

    Args:
        folder: holds `corpora/<name>.md` and `questions.jsonl`, see `PassageSet`.
        settings: of parsing, chunking, embedding and retrieval; sparse encoders take no part.
        cache: folder for vectors, by hash; a second run encodes nothing.

    Raises:
        UsageError: the folder holds something else.
        ParseFailure: a corpus cannot be parsed.
        ConfigurationError: no such model on this machine.
    """
    tokenizer = joint_tokenizer(settings.embed)
    models = [model for model in embedding_models(settings.embed) if not model.settings.is_sparse]
    corpora = _read(read_passage_set(folder), settings, tokenizer)
    started = time.process_time()
    own = {corpus.name: _cut_own(corpus, settings, tokenizer) for corpus in corpora}
    chunk_seconds = time.process_time() - started
    ways: dict[str, dict[str, _Splitting]] = {
        OWN: own,
        f"recursive {_BASELINE_SIZE} tokens": {
            corpus.name: _cut(
                corpus,
                split_recursively(corpus.text, corpus.token_spans, _BASELINE_SIZE),
                tokenizer,
            )
            for corpus in corpora
        },
    }
    caches = [VectorCache(cache, model) for model in models]
    questions = {question for corpus in corpora for question in corpus.questions}
    asked = {model.fingerprint: _encode(model, sorted(questions)) for model in models}
    sentences = {corpus.name: sentence_spans(corpus.document) for corpus in corpora}
    scored: dict[str, _Scores] = {}
    figures: dict[str, dict[str, Figure]] = {}
    for name, cuts in ways.items():
        inputs = [text for cut in cuts.values() for text in cut.inputs]
        for model, vectors in zip(models, caches, strict=True):
            vectors.encode(inputs, name_progress(f"vectors of {name} by {model.name}", on_progress))
        scored[name] = _search(corpora, cuts, models, caches, asked, settings)
        figures[name] = {
            **_overall(scored[name], settings.retrieve.method),
            "precision_omega": _precision_omega(corpora, cuts),
            **describe_cuts(
                [
                    CutText(corpus.text, cuts[corpus.name].spans, sentences[corpus.name],
                            cuts[corpus.name].tokens)
                    for corpus in corpora
                ]
            ),
        }  # fmt: skip
    by_corpus = {
        name: {
            corpus.name: _overall(
                {method: {corpus.name: of[corpus.name]} for method, of in scores.items()},
                settings.retrieve.method,
            )
            for corpus in corpora
        }
        for name, scores in scored.items()
    }
    counts = {
        "corpora": len(corpora),
        "references": sum(len(each) for corpus in corpora for each in corpus.references),
        "unplaced_characters": sum(sum(corpus.lost_characters) for corpus in corpora),
        "characters": sum(len(corpus.text) for corpus in corpora),
    }
    return report_chunking(counts, settings, figures, by_corpus, chunk_seconds)


def _read(passages: PassageSet, settings: Settings, tokenizer: EmbeddingTokenizer) -> list[_Corpus]:
    corpora = []
    for name, path in passages.corpora.items():
        data = path.read_bytes()
        document = parse_document(data, ParseHints(path.suffix), settings.parse)
        source = data.decode("utf-8")
        asked = [question for question in passages.questions if question.corpus == name]
        placed = [
            place_references(source, document.text, question.references) for question in asked
        ]
        corpora.append(
            _Corpus(
                name,
                document,
                tuple(tokenizer.token_spans(document.text)),
                tuple(question.question for question in asked),
                tuple(tuple(span for span in spans if span is not None) for spans in placed),
                tuple(
                    sum(
                        len(reference.content)
                        for reference, span in zip(question.references, spans, strict=True)
                        if span is None
                    )
                    for question, spans in zip(asked, placed, strict=True)
                ),
            )
        )
    return corpora


def _cut_own(corpus: _Corpus, settings: Settings, tokenizer: EmbeddingTokenizer) -> _Splitting:
    _, chunks = chunk_document(corpus.document, settings.chunk, tokenizer)
    return _Splitting(
        tuple(
            SearchedChunk(
                chunk.char_start,
                chunk.char_end,
                chunk.text,
                model_input(chunk.text, chunk.context, chunk.prepared),
                chunk.kind,
                chunk.section_subtype,
            )
            for chunk in chunks
        ),
        tuple(_input_of(chunk) for chunk in chunks),
        tuple(chunk.token_count for chunk in chunks),
    )


def _input_of(chunk: Chunk) -> str:
    """Return what a build gives the model for a chunk."""
    if chunk.question is not None:
        return chunk.question
    return model_input(chunk.text, chunk.context, chunk.prepared)


def _cut(corpus: _Corpus, spans: Sequence[Span], tokenizer: EmbeddingTokenizer) -> _Splitting:
    texts = tuple(corpus.text[start:end] for start, end in spans)
    chunks = tuple(
        SearchedChunk(*span, text, text) for span, text in zip(spans, texts, strict=True)
    )
    return _Splitting(chunks, texts, tuple(tokenizer.count(texts)))


def _encode(model: EmbeddingModel, questions: Sequence[str]) -> dict[str, list[float]]:
    """Return the vectors of the questions that a model can read."""
    tokenizer = model.tokenizer()
    readable = [question for question in questions if can_read(tokenizer, question)]
    if not readable:
        return {}
    vectors = load_query_encoder(model.settings).encode_queries(readable)
    return dict(zip(readable, vectors.tolist(), strict=True))


def _search(
    corpora: Sequence[_Corpus],
    cuts: Mapping[str, _Splitting],
    models: Sequence[EmbeddingModel],
    caches: Sequence[VectorCache],
    asked: Mapping[str, Mapping[str, Sequence[float]]],
    settings: Settings,
) -> _Scores:
    """Ask every question by every method; `asked` has its vectors by model and text."""
    scores: _Scores = {method: {} for method in METHODS}
    for corpus in corpora:
        cut = cuts[corpus.name]
        questions = [
            (text, {model: known[text] for model, known in asked.items() if text in known})
            for text in corpus.questions
        ]
        with tempfile.TemporaryDirectory(prefix="rag-eval-") as folder:
            table = CorpusSearch(
                Path(folder),
                corpus.name,
                cut.chunks,
                models,
                [vectors.encode(cut.inputs) for vectors in caches],
                settings.retrieve,
            )
            for method in METHODS:
                scores[method][corpus.name] = [
                    _score(corpus, index, cut.spans, table.rank(question, known, method, TOP_K))
                    for index, (question, known) in enumerate(questions)
                ]
    return scores


def _score(corpus: _Corpus, question: int, spans: Sequence[Span], found: list[int]) -> Recovered:
    references = corpus.references[question]
    score = score_spans(references, [spans[chunk] for chunk in found])
    # What the clean text has lost can never be found: it counts as missed.
    known = total(union(references))
    kept = share(known, known + corpus.lost_characters[question]) or 0.0
    return Recovered(score.recall * kept, score.precision, score.iou * kept, score.hit_iou * kept)


def _overall(scores: _Scores, configured: str) -> dict[str, Figure]:
    """Return the means by the configured method under their plain names, then by every method."""
    by_method = {
        method: _means([score for each in of.values() for score in each])
        for method, of in scores.items()
    }
    return {
        **by_method[configured],
        **{f"{method}_{key}": means[key] for method, means in by_method.items() for key in FOUND},
    }


def _means(scores: Sequence[Recovered]) -> dict[str, Figure]:
    return {
        **{key: mean([getattr(score, key) for score in scores]) for key in FOUND},
        "questions": len(scores),
    }


def _precision_omega(corpora: Sequence[_Corpus], cuts: Mapping[str, _Splitting]) -> float | None:
    """Return the precision of a search that finds just the chunks that touch a reference."""
    values = []
    for corpus in corpora:
        spans = cuts[corpus.name].spans
        for references in map(union, corpus.references):
            held = touching(spans, references)
            values.append(share(total(intersection(references, union(held))), total(held)) or 0.0)
    return mean(values)
