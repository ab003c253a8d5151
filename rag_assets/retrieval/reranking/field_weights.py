"""Reranking without a model: what title and headings share with the question, and where it lies.

rerank:
mode: weighted
params:
title: 0.2                        # for a title that holds all words of the question
headings: 0.3                     # the same for the section's path
path: {evidence/key: 1.2}         # factor for documents below this folder
path_bonus: {evidence/key: 0.2}   # the same, added to the fused part before the factors
source_type: {evidence: 1.1}      # factors by what the chunk is
source_subtype: {slides: 0.8}
section_category: {"3": 1.1}
section_subtype: {appendix: 0.7}
kind: {table: 1.2}

Without any the hits stay in their order.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rag_assets.model import HAN, HAN_RANGES, UsageError
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.normalizing import normalized_parts
from rag_assets.retrieval.queries import AskedQuery
from rag_assets.settings import RetrieveSettings

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
    params = settings.rerank.params
    bonuses, factors, by_path = _read(params)
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
        told = {"parts": parts, "factors": applied, "score": score}
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
    value = getattr(hit, name)
    return values.get(str(value), 1.0)


def _of_path(
    values: Mapping[str, float],
    hit: Hit,
    paths: Mapping[str, Mapping[str, Sequence[str]]],
    otherwise: float,
) -> float:
    """Return the value of the longest path that leads to the hit's document."""
    own = paths.get(hit.namespace, {}).get(hit.doc_uid, ())
    matching = [key for key in values if any(_is_below(path, key) for path in own)]
    return values[max(matching, key=len)] if matching else otherwise


def _is_below(path: str, folder: str) -> bool:
    plain = folder.strip("/")
    return path == plain or path.startswith(f"{plain}/")
