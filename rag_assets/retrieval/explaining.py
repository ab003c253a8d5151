"""Why a hit stands where it stands, for a person at a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from rag_assets.model import count_of
from rag_assets.retrieval.hits import Hit


def explain_hit(hit: Hit) -> str:
    """Return some lines on a hit's score: each searcher, the fusion, the reranker, the rest."""
    return explain(hit.explanation, hit.copies)


def explain(explanation: Mapping[str, Any], copies: tuple[str, ...] = ()) -> str:
    """Return what `explain_hit` does, of the explanation alone, as a pack keeps it."""
    return "\n".join(_lines(explanation, copies))


def _lines(told: Mapping[str, Any], copies: tuple[str, ...]) -> Iterator[str]:
    ranks, scores = told.get("ranks", {}), told.get("scores", {})
    parts, weights = told.get("parts", {}), told.get("weights", {})
    width = max(map(len, scores), default=0)
    for name in sorted(scores):
        place = f"rank {ranks[name]}" if name in ranks else "not among its candidates"
        line = f"{name:<{width}}  {place}, score {scores[name]:.4f}"
        if name in parts:
            line += f" → {parts[name]:.3f} × weight {weights[name]:.2f}"
        yield line
    if told.get("entities"):
        via = told["entities"]
        # What is more than one step away stands in no sentence with what the question names.
        near = count_of(via["sentences"], "sentence") if via["sentences"] else "by way of others"
        yield f"via {' – '.join(via['entities'])}, {near}"
    if "fused" in told:
        yield f"fused by {told['score_mode']}: {told['fused']:.4f}"
    if "standing" in told:
        yield f"stands {told['standing']:.2f} deviations above the passages of its language"
    judged = told.get("rerank")
    if judged:
        if "skipped" in judged:
            yield f"not reranked: {judged['skipped']}"
        elif "parts" in judged:
            sums = " + ".join(f"{name} {part:.3f}" for name, part in judged["parts"].items())
            factors = "".join(f" × {name} {by:g}" for name, by in judged["factors"].items())
            yield f"reranked by fields: ({sums}){factors} = {judged['score']:.4f}"
        else:
            yield f"reranked by {judged['model']}: score {judged['score']:.4f}"
    if copies:
        yield f"says the same as {', '.join(copies)}"
    if "kept_because" in told:
        yield f"kept: {told['kept_because']}"
