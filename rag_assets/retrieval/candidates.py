"""What each searcher finds over all publications, with every searcher's score of it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from rag_assets.embedding.bundled_files import E5
from rag_assets.model import UsageError
from rag_assets.model.settings import QuestionSubject, RetrieveSettings
from rag_assets.publishing import Language
from rag_assets.retrieval.fusion import (
    ASKED,
    GRAPH,
    LEXICAL,
    Candidates,
    models_asked,
    searcher_names,
)
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.languages import vectors_for
from rag_assets.retrieval.queries import AskedQuery

if TYPE_CHECKING:
    from rag_assets.retrieval.filters import SearchFilters
    from rag_assets.retrieval.reader import Reader

_T = TypeVar("_T")

# (chunk_id, score) of one publication, best first.
_Ranking = Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class _Asking:
    """One searcher's question in one wording to one publication."""

    reader: "Reader"
    find: Callable[[], _Ranking]
    score: Callable[[Sequence[str]], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Pools:
    """Candidates of all searchers.

    Args:
        languages: of the passages, by `chunk_key`.
        searchers: by name: `lexical`, `graph`, or the model's.
        are_comparable: whether some model, or words alone, scored the passages of every
            publication; scores of different models say nothing to each other.
    """

    languages: Mapping[str, Language]
    searchers: Mapping[str, Candidates]
    are_comparable: bool


def collect(
    readers: "Sequence[Reader]",
    query: AskedQuery,
    settings: RetrieveSettings,
    filters: "SearchFilters",
) -> Pools:
    """Return the `pool_k` best candidates of each searcher.

    A searcher's candidates of several publications are merged by score: BM25 scores as they are,
    as distributed text search does; cosines where the publications share the model. Of several
    wordings a passage has its best score. For fusion by weights each searcher also scores the
    others' candidates exactly, so that one just below its cut is not taken for worthless.

    Raises:
        UsageError: a publication was made with a model that gave the question no vector, while no
            other of its models did.
    """
    askings = _askings(readers, query, settings, filters)
    # Lance and NumPy work outside of Python's lock: no searcher need wait for another.
    found = dict(
        zip(
            askings,
            _at_once([partial(_find_all, asked) for asked in askings.values()]),
            strict=True,
        )
    )
    scores: dict[str, dict[str, float]] = {name: {} for name in askings}
    for name, asked in found.items():
        for one, ranking in asked:
            _keep_best(scores[name], one, dict(ranking))
    pools = {name: _best(own, settings.pool_k) for name, own in scores.items()}
    ids = _ids_by_namespace({key for pool in pools.values() for key in pool})
    languages = {
        f"{reader.namespace}::{chunk_id}": language
        for reader in readers
        for chunk_id, language in reader.passage_languages(ids[reader.namespace]).items()
    }
    if settings.fusion.kind == "weighted":
        rest = _at_once([partial(_score_others, asked, ids) for asked in found.values()])
        for name, scored in zip(found, rest, strict=True):
            for one, others in scored:
                _keep_best(scores[name], one, others)
    searchers = {
        name: Candidates(
            # With several wordings the exact scores may order a pool otherwise.
            _best({key: scores[name][key] for key in pool}, settings.pool_k),
            {key: score for key, score in scores[name].items() if key in languages},
        )
        for name, pool in pools.items()
    }
    everywhere = {reader.namespace for reader in readers}
    reach = [
        {one.reader.namespace for one in asked}
        for name, asked in askings.items()
        if name not in {LEXICAL, GRAPH, ASKED}
    ]
    return Pools(languages, searchers, not reach or everywhere in reach)


def _find_all(asked: Sequence[_Asking]) -> list[tuple[_Asking, _Ranking]]:
    return [(one, one.find()) for one in asked]


def _score_others(
    asked: Sequence[tuple[_Asking, _Ranking]], ids: Mapping[str, Sequence[str]]
) -> list[tuple[_Asking, Mapping[str, float]]]:
    """Return each asking's scores of the candidates that it did not find itself."""
    scored = []
    for one, ranking in asked:
        known = {chunk_id for chunk_id, _ in ranking}
        missing = [key for key in ids[one.reader.namespace] if key not in known]
        if missing:
            scored.append((one, one.score(missing)))
    return scored


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="search")


def _at_once(tasks: Sequence[Callable[[], _T]]) -> list[_T]:
    """Return what each task returns, in their order; the last is done by this thread."""
    if not tasks:
        return []
    others = [_pool().submit(task) for task in tasks[:-1]]
    last = tasks[-1]()
    return [*(other.result() for other in others), last]


def _askings(
    readers: "Sequence[Reader]",
    query: AskedQuery,
    settings: RetrieveSettings,
    filters: "SearchFilters",
) -> dict[str, list[_Asking]]:
    asked: dict[str, list[_Asking]] = defaultdict(list)
    if settings.method != "semantic":
        asked[LEXICAL] = [
            _ask_words(reader, text, settings, filters)
            for reader in readers
            for text in query.texts.values()
        ]
    if settings.method == "lexical":
        return asked
    if settings.method == "hybrid":
        graph = [
            asking
            for reader in readers
            for text in query.texts.values()
            if (asking := _ask_entities(reader, text, settings, filters)) is not None
        ]
        if graph:
            asked[GRAPH] = graph
        if settings.questions is not None:
            alike = [
                asking
                for reader in readers
                for asking in _ask_known(reader, query, settings, settings.questions, filters)
            ]
            if alike:
                asked[ASKED] = alike
    names = searcher_names(readers)
    for reader in readers:
        passages = reader.count_by_language(filters)
        known = [
            model.fingerprint
            for model in models_asked(reader, settings.method)
            if model.fingerprint in query.vectors
        ]
        if not known and settings.method == "semantic":
            raise UsageError(
                f"namespace '{reader.namespace}' needs the question's vector from one of its own "
                f"models ({', '.join(model.name for model in reader.models)}) for semantic search; "
                "set retrieve.method to hybrid or lexical to do without."
            )
        for fingerprint in known:
            asked[names[fingerprint]] += [
                _ask_model(reader, fingerprint, vector, settings.pool_k, filters)
                for vector in vectors_for(query, fingerprint, passages)
            ]
    return asked


def _ask_words(
    reader: "Reader", text: str, settings: RetrieveSettings, filters: "SearchFilters"
) -> _Asking:
    return _Asking(
        reader,
        lambda: reader.rank_text(text, settings.pool_k, filters, settings.text),
        lambda ids: reader.score_text(text, ids, settings.text),
    )


def _ask_entities(
    reader: "Reader", text: str, settings: RetrieveSettings, filters: "SearchFilters"
) -> _Asking | None:
    """Return what asks a publication's entities; None where the question names none of them."""
    graph = reader.entity_graph
    scores = {} if graph is None else graph.scores(text)
    if not scores:
        return None

    def find() -> _Ranking:
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return _first_passing(reader, iter(ranked), settings.pool_k, filters)

    return _Asking(reader, find, lambda ids: {i: scores.get(i, 0.0) for i in ids})


def _ask_known(
    reader: "Reader",
    query: AskedQuery,
    settings: RetrieveSettings,
    subject: QuestionSubject,
    filters: "SearchFilters",
) -> Iterator[_Asking]:
    """Yield what asks a publication's passages by known questions, in each wording.

    A passage without known questions has no score: what the others say of it counts.
    """
    for model in reader.models:
        # As `encode_questions` chooses the layers by which the known ones were encoded.
        if (model.settings.kind, model.settings.model) != ("bundled", E5):
            continue
        for vector in query.vectors.get(model.fingerprint, ()):
            scores = reader.asked_passages(subject).ask(vector)
            if scores is not None:
                find = partial(_first_passing, reader, scores.ranked(), settings.pool_k, filters)
                yield _Asking(reader, find, scores.of)


def _first_passing(
    reader: "Reader", ranked: Iterator[tuple[str, float]], limit: int, filters: "SearchFilters"
) -> _Ranking:
    """Return the first of a ranking that pass the filters.

    Few are wanted of thousands: filters look at some more than that at a time.
    """
    found: list[tuple[str, float]] = []
    while len(found) < limit and (part := list(islice(ranked, 2 * limit))):
        passing = set(reader.passing([chunk_id for chunk_id, _ in part], filters))
        found += [(chunk_id, score) for chunk_id, score in part if chunk_id in passing]
    return found[:limit]


def _ask_model(
    reader: "Reader",
    fingerprint: str,
    vector: Sequence[float],
    limit: int,
    filters: "SearchFilters",
) -> _Asking:
    return _Asking(
        reader,
        lambda: reader.rank_vectors(fingerprint, vector, limit, filters),
        lambda ids: reader.score_vectors(fingerprint, vector, ids),
    )


def _keep_best(scores: dict[str, float], one: _Asking, found: Mapping[str, float]) -> None:
    for chunk_id, score in found.items():
        key = f"{one.reader.namespace}::{chunk_id}"
        scores[key] = max(score, scores.get(key, score))


def _best(scores: Mapping[str, float], limit: int) -> list[str]:
    return sorted(scores, key=lambda key: (-scores[key], key))[:limit]


def _ids_by_namespace(keys: Iterable[str]) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = defaultdict(list)
    for key in sorted(keys):
        namespace, _, chunk_id = key.partition("::")
        ids[namespace].append(chunk_id)
    return ids


def fetch_hits(readers: "Sequence[Reader]", keys: Iterable[str]) -> dict[str, Hit]:
    """Return the hits of some candidates by `chunk_key`, without ranks."""
    ids = _ids_by_namespace(keys)
    return {
        hit.chunk_key: hit
        for reader in readers
        for hit in reader.fetch_hits(ids[reader.namespace]).values()
    }
