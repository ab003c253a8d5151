"""Reranking without a model: what title and headings share with the question, and its path.

rerank:
mode: weighted
params:
title: 0.2                        # for a title that holds all words of the question
headings: 0.3                     # the same for the section's path
path: {evidence/key: 1.2}         # factor for documents below this folder, wherever it lies
path_bonus: {evidence/key: 0.2}   # the same, added to the fused part before the factors
source_type: {evidence: 1.1}      # factors by what the chunk is
source_subtype: {slides: 0.8}
section_category: {"3": 1.1}
section_subtype: {appendix: 0.7}
kind: {table: 1.2}

Without any the hits stay in their order.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.model import HAN, HAN_RANGES, UsageError
from rag_assets.model.settings import RerankSettings, RetrieveSettings
from rag_assets.retrieval.fusion import normalized_parts, rank_part
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.queries import AskedQuery
from rag_assets.retrieval.reranking.loading import Reranker, load_reranker

if TYPE_CHECKING:
    from rag_assets.retrieval.reader import Reader

_FIELDS = ("title", "headings")
_PATH_BONUS = "path_bonus"
_FACTORS = ("source_type", "source_subtype", "section_category", "section_subtype", "kind")
_TOKEN = re.compile(rf"[{HAN_RANGES}]+|[^\W_{HAN_RANGES}]+")
# "cooling" and "cooled" are one word by their beginnings.
_STEM_CHARACTERS = 5
# English words shorter than this carry grammar; so do not `pH` and `CO2`, hence the digits below.
_MIN_LETTERS = 3


def weigh_fields(
    hits: Sequence[Hit],
    query: AskedQuery,
    settings: RetrieveSettings,
    readers: "Sequence[Reader]" = (),
) -> list[Hit]:
    """Return the hits by (fused part + field bonuses) × factors, best first, ties as they stood.

    The fused part is, by `rerank.score_mode`, that of the place (`rank`), the normalised fused
    score (`normalize`), or the fused score (`raw`). A field's bonus is its weight times the share
    of the question's words that stand in it, by beginnings and pairs of Chinese characters; of
    several wordings the best counts. A factor holds where its value is that of the hit, or its
    path leads to the hit's document; of several paths the longest decides. So with
    a path's bonus.

    Args:
        hits: fused, best first.
        settings: `rerank`, `rrf_k`.
        readers: tell the documents' paths; not asked without `path`.

    Raises:
        UsageError: a weight that is unknown, or not a number from 0.
    """
    bonuses, factors, by_path = _read(settings.rerank.params)
    keys = [hit.chunk_key for hit in hits]
    base = normalized_parts(
        {hit.chunk_key: hit.score for hit in hits},
        keys,
        settings.rerank.score_mode,
        settings.rerank.normalize,
        settings.rrf_k,
    )
    asked = [_words(text) for text in query.texts.values()]
    paths = (
        {reader.namespace: reader.document_paths for reader in readers}
        if by_path or "path" in factors
        else {}
    )
    weighed = []
    for hit in hits:
        parts: dict[str, float] = {"fused": base[hit.chunk_key]}
        texts = {"title": hit.doc_title or "", "headings": " ".join(hit.section_path)}
        for name, weight in bonuses.items():
            parts[name] = weight * _overlap(asked, texts[name])
        if by_path:
            parts[_PATH_BONUS] = _of_path(by_path, hit, paths, 0.0)
        applied = {name: _factor(name, values, hit, paths) for name, values in factors.items()}
        score = sum(parts.values())
        for factor in applied.values():
            score *= factor
        told: dict[str, Any] = {"parts": parts, "factors": applied, "score": score}
        folder = _folder(factors.get("path", ()), hit, paths)
        if folder is not None:
            told["folder"] = folder
        weighed.append(replace(hit, score=score, explanation={**hit.explanation, "rerank": told}))
    return sorted(weighed, key=lambda hit: -hit.score)


def _read(
    params: Mapping[str, Any],
) -> tuple[dict[str, float], dict[str, dict[str, float]], dict[str, float]]:
    """Return bonuses by field, factors by what they are of, and bonuses by path."""
    bonuses: dict[str, float] = {}
    factors: dict[str, dict[str, float]] = {}
    for name, value in params.items():
        if name in _FIELDS:
            bonuses[name] = _number(name, value)
        elif name in (*_FACTORS, "path", _PATH_BONUS) and isinstance(value, Mapping):
            factors[name] = {
                str(key): _number(f"{name}.{key}", number) for key, number in value.items()
            }
        else:
            raise UsageError(
                f"'retrieve.rerank.params.{name}' is no weight of mode weighted. Known: "
                f"{', '.join(_FIELDS)} (a number), path, {_PATH_BONUS}, {', '.join(_FACTORS)} (a "
                "number by value)."
            )
    return bonuses, factors, factors.pop(_PATH_BONUS, {})


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise UsageError(f"'retrieve.rerank.params.{name}' must be a number from 0, got {value!r}.")
    return float(value)


def _words(text: str) -> frozenset[str]:
    units: set[str] = set()
    for match in _TOKEN.finditer(text.casefold()):
        token = match.group()
        if HAN.match(token):
            units.update(token[i : i + 2] for i in range(max(1, len(token) - 1)))
        elif len(token) >= _MIN_LETTERS or not token.isalpha():
            units.add(token[:_STEM_CHARACTERS])
    return frozenset(units)


def _overlap(asked: Iterable[frozenset[str]], text: str) -> float:
    own = _words(text)
    return max((len(words & own) / len(words) for words in asked if words), default=0.0)


def _factor(
    name: str,
    values: Mapping[str, float],
    hit: Hit,
    paths: Mapping[str, Mapping[str, Sequence[str]]],
) -> float:
    if name == "path":
        return _of_path(values, hit, paths, 1.0)
    return values.get(str(getattr(hit, name)), 1.0)


def _of_path(
    values: Mapping[str, float],
    hit: Hit,
    paths: Mapping[str, Mapping[str, Sequence[str]]],
    otherwise: float,
) -> float:
    """Return the value of the folder that the hit's document lies below."""
    folder = _folder(values, hit, paths)
    return otherwise if folder is None else values[folder]


def _folder(
    folders: Iterable[str], hit: Hit, paths: Mapping[str, Mapping[str, Sequence[str]]]
) -> str | None:
    """Return the folder that the hit's document lies below: the outermost, then the longest."""
    own = paths.get(hit.namespace, {}).get(hit.doc_uid, ())
    found = [
        (place, -len(folder), folder)
        for folder in folders
        for path in own
        if (place := _place(path, folder)) is not None
    ]
    return min(found)[2] if found else None


def _place(path: str, folder: str) -> int | None:
    """Return where a folder stands in a path, None where it does not."""
    place = f"/{path}/".find(f"/{folder.strip('/')}/")
    return place if place >= 0 else None


# The reranking step of a search.


# Share of the rerank score where it is mixed with the fused one; `rerank.params.weight` says
# another.
EVEN_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits in their new order, and what a person should know of it."""

    hits: tuple[Hit, ...]
    warnings: tuple[str, ...] = ()


def rerank(
    hits: Sequence[Hit],
    query: AskedQuery,
    settings: RetrieveSettings,
    readers: "Sequence[Reader]" = (),
) -> Reranked:
    """Return the first `top_n` hits (null: `rerank_k`) in the order of a second judgement.

    Mode `model`: the model scores question and passage together. The final score is, by
    `score_mode`: `rank` (rrf_k + 1) / (rrf_k + place in the model's order), `raw` the model's
    score, `normalize` the mean of its normalised score and the normalised fused score, with
    `params: {weight: …}` as the share of the first (0.5 where it is not said). A question that
    the model cannot read, in none of its wordings, is not reranked, and a passage that it cannot
    read keeps its place: both are warned of. Mode `weighted`: see `weigh_fields`.

    Hits behind the first `top_n` follow in their order, with the last judged score at most. With
    `rerank.score_threshold` hits whose own rerank score is below it are dropped, and so are those
    that were not judged.

    Args:
        hits: fused, best first.
        readers: tell the paths of documents, where mode `weighted` weighs them.

    Raises:
        UsageError: `params` holds what its mode does not know.
    """
    chosen = settings.rerank
    if chosen.mode == "off" or not hits:
        return Reranked(tuple(hits))
    count = chosen.top_n or settings.rerank_k
    head, tail = list(hits[:count]), hits[count:]
    warnings: tuple[str, ...] = ()
    if chosen.mode == "weighted":
        judged = weigh_fields(head, query, settings, readers)
    else:
        reranker = load_reranker(chosen)
        text = next((text for text in query.texts.values() if reranker.can_read(text)), None)
        if text is None:
            warning = (
                f"the reranker {reranker.name} cannot read the question, so the candidates keep "
                f"their fused order. Name a reranker that knows its language in retrieve.rerank"
            )
            kept = tuple(
                _explained(hit, {"model": reranker.name, "skipped": warning}) for hit in hits
            )
            return Reranked(kept, (warning,))
        judged, unread = _judge(head, text, reranker, settings)
        if unread:
            fate = (
                "keep their places"
                if chosen.score_threshold is None
                else "are left out, as rerank.score_threshold says"
            )
            sentence = (
                f"the reranker {reranker.name} cannot read {unread} of {len(head)} candidates"
            )
            warnings = (f"{sentence}, which {fate}",)
    if chosen.score_threshold is not None:
        least = chosen.score_threshold
        return Reranked(
            tuple(
                hit for hit in judged if hit.explanation["rerank"].get("score", -math.inf) >= least
            ),
            warnings,
        )
    lowest = judged[-1].score
    rest = (replace(hit, score=min(hit.score, lowest)) for hit in tail)
    return Reranked((*judged, *rest), warnings)


def _judge(
    hits: Sequence[Hit], question: str, reranker: Reranker, settings: RetrieveSettings
) -> tuple[list[Hit], int]:
    """Return the hits in the reranker's order, and how many it could not read."""
    readable = [place for place, hit in enumerate(hits) if reranker.can_read(hit.shown)]
    scores = reranker.score(question, [hits[place].shown for place in readable])
    if len(scores) != len(readable):
        raise UsageError(
            f"the reranker {reranker.name} gave {len(scores)} scores for {len(readable)} passages. "
            "Set retrieve.rerank.mode to off, or name another."
        )
    by_place = dict(zip(readable, scores, strict=True))
    final = _final_scores(hits, by_place, settings)
    order = sorted(readable, key=lambda place: (-final[place], place))
    slots = dict(zip(readable, order, strict=True))
    judged: list[Hit] = []
    for place, hit in enumerate(hits):
        if place in slots:
            source = slots[place]
            told: dict[str, Any] = {"model": reranker.name, "score": by_place[source]}
            judged.append(replace(_explained(hits[source], told), score=final[source]))
        else:
            told = {"model": reranker.name, "skipped": "it cannot read the passage"}
            # Between its neighbours, so that scores fall along the ranking.
            score = judged[-1].score if judged else max(final.values(), default=hit.score)
            judged.append(replace(_explained(hit, told), score=score))
    return judged, len(hits) - len(readable)


def _final_scores(
    hits: Sequence[Hit], scores: Mapping[int, float], settings: RetrieveSettings
) -> dict[int, float]:
    chosen = settings.rerank
    order = sorted(scores, key=lambda place: (-scores[place], place))
    if chosen.score_mode == "raw":
        return dict(scores)
    if chosen.score_mode == "rank":
        return {place: rank_part(rank, settings.rrf_k) for rank, place in enumerate(order, start=1)}
    share = _share(chosen)
    judged = _normalized({place: scores[place] for place in order}, settings)
    fused = _normalized({place: hits[place].score for place in sorted(scores)}, settings)
    return {place: share * judged[place] + (1 - share) * fused[place] for place in scores}


def _normalized(scores: Mapping[int, float], settings: RetrieveSettings) -> dict[int, float]:
    named = {str(place): score for place, score in scores.items()}
    parts = normalized_parts(
        named, list(named), "normalize", settings.rerank.normalize, settings.rrf_k
    )
    return {int(place): part for place, part in parts.items()}


def _share(chosen: RerankSettings) -> float:
    share = chosen.params.get("weight", EVEN_SHARE)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise UsageError(f"'retrieve.rerank.params.weight' must be from 0 to 1, got {share!r}.")
    return float(share)


def _explained(hit: Hit, told: Mapping[str, Any]) -> Hit:
    return replace(hit, explanation={**hit.explanation, "rerank": dict(told)})
