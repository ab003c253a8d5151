"""The reranking step of a search."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.model import UsageError
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.normalizing import normalized_parts, rank_part
from rag_assets.retrieval.queries import AskedQuery
from rag_assets.retrieval.reranking.contract import Reranker
from rag_assets.retrieval.reranking.field_weights import weigh_fields
from rag_assets.retrieval.reranking.loading import load_reranker
from rag_assets.settings import RerankSettings, RetrieveSettings

if TYPE_CHECKING:
    from rag_assets.retrieval.reader import Reader

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
                f"the reranker {reranker.name} cannot read the question, so the candidates stand "
                "in their fused order. Name a reranker that knows its language in retrieve.rerank"
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
