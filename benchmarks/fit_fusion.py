"""Fit the weights of configs/fusion.yaml on sets with judgements, and say what they are worth.

    python benchmarks/fit_fusion.py [FOLDER …] [--cache DIR] [--limit N] [--write]

Each folder is an evaluation set in BEIR's layout; without, those of the shared data
(RAG_SHARED_DATA). Each goes through the product's own stages with the shipped settings, as in
`rag eval retrieval`, and shares its cache. Every question's candidates are collected as a search
does; then all weights on a grid are tried on them, and nDCG@10 by document counts. Sets count the
same. Of weights whose mean lies within 0.002 of the best, those of the fewest models are taken: a
model that weighs nothing need not be asked. A set belongs to the pair of languages of most of its
questions and passages; one with passages in several languages is left out, as a search ranks each
language for itself.

Prints a table: each part alone, the weights fitted on all sets of the pair, and, leave one set
out, those fitted on the others. `--write` stores the weights with their provenance.
"""

import argparse
import itertools
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from rag_assets.evaluation.metrics import ndcg_at
from rag_assets.evaluation.retrieval import Latency, encode_questions
from rag_assets.evaluation.sets import find_sets, read_retrieval_set
from rag_assets.evaluation.workspaces import (
    MadeFile,
    built_workspace,
    default_cache,
    markdown_of,
)
from rag_assets.retrieval.candidates import collect, fetch_hits
from rag_assets.retrieval.filters import SearchFilters
from rag_assets.retrieval.fusion import normalized_parts
from rag_assets.retrieval.retriever import Retriever
from rag_assets.workspace import Settings, shipped_settings

_DATA = Path(
    os.environ.get("RAG_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
_STEPS = 20
_NEAR = 0.002
_DEPTH = 10
# A set whose second language has at least this share of the passages is one in several languages.
_SECOND_LANGUAGE = 0.1

Weights = tuple[float, ...]


@dataclass(frozen=True)
class AskedSet:
    """A set's candidates.

    Args:
        parts: a question's candidates by searcher, on the common scale; NaN where a searcher
            cannot read the passage.
        documents: of each candidate, as numbers.
        relevance: of each document, by its number, with those that were not found.
    """

    name: str
    pair: tuple[str, str]
    parts: Sequence[NDArray[np.float64]]
    documents: Sequence[Sequence[str]]
    relevance: Sequence[Mapping[str, float]]

    def scores(self, grid: Sequence[Weights]) -> NDArray[np.float64]:
        """Return the mean nDCG@10 that each weights of a grid give."""
        columns = np.array(grid).T
        total = np.zeros(len(grid))
        for parts, documents, relevance in zip(
            self.parts, self.documents, self.relevance, strict=True
        ):
            able = (~np.isnan(parts)).astype(float) @ columns
            summed = np.nan_to_num(parts) @ columns
            fused = np.divide(summed, able, out=np.zeros_like(summed), where=able > 0)
            order = np.argsort(-np.round(fused, 12), axis=0, kind="stable")
            total += [
                ndcg_at(_first(documents, column.tolist()), relevance, _DEPTH) for column in order.T
            ]
        return total / len(self.parts)


def _first(documents: Sequence[str], order: Sequence[int]) -> list[str]:
    """Return the first ten documents of an order of candidates."""
    found: dict[str, None] = {}
    for index in order:
        found[documents[index]] = None
        if len(found) == _DEPTH:
            break
    return list(found)


def _ask(folder: Path, settings: Settings, cache: Path, limit: int | None) -> AskedSet | None:
    rows = read_retrieval_set(folder, limit)
    files = [MadeFile(row.id, markdown_of(row.title, row.text)) for row in rows.corpus]
    retrieve = settings.retrieve
    filters = SearchFilters(citable_only=True, with_references=retrieve.references)
    with (
        built_workspace(files, settings, cache) as built,
        Retriever(built.namespace.workspace, [built.namespace.name], retrieve) as retriever,
    ):
        reader = retriever.readers[0]
        languages = Counter(reader.count_by_language(filters)).most_common()
        if len(languages) > 1 and languages[1][1] >= _SECOND_LANGUAGE * reader.rows:
            print(f"{rows.name}: passages in several languages, left out", flush=True)
            return None
        queries = encode_questions(
            [query.text for query in rows.queries], reader, retrieve, Latency()
        )
        names = ["lexical", *(model.name for model in reader.models)]
        parts, documents, relevance = [], [], []
        for row, query in zip(rows.queries, queries, strict=True):
            pools = collect([reader], query, retrieve, filters)
            # Only passages of the pair's language are weighed by its weights.
            keys = [
                key for key in sorted(pools.languages) if pools.languages[key] == languages[0][0]
            ]
            hits = fetch_hits([reader], keys)
            scaled = {
                name: normalized_parts(
                    found.scores, found.pool, "normalize", "min_max", retrieve.rrf_k
                )
                for name, found in pools.searchers.items()
            }
            parts.append(
                np.array([[scaled.get(n, {}).get(key, np.nan) for n in names] for key in keys])
                .reshape(-1, len(names))
            )  # fmt: skip
            documents.append([built.ids[hits[key].doc_uid][0] for key in keys])
            relevance.append(rows.judgements[row.id])
        asked = Counter(query.language for query in queries).most_common(1)[0][0]
    print(f"{rows.name}: {len(queries)} questions", flush=True)
    return AskedSet(rows.name, (asked, languages[0][0]), parts, documents, relevance)


def _grid(size: int, usable: Sequence[bool]) -> list[Weights]:
    return [
        tuple(step / _STEPS for step in steps)
        for steps in itertools.product(range(_STEPS + 1), repeat=size)
        if sum(steps) == _STEPS
        and all(can or not step for can, step in zip(usable, steps, strict=True))
    ]


def _best(grid: Sequence[Weights], means: NDArray[np.float64]) -> Weights:
    """Return the weights of the fewest models near the best mean; of those the best."""
    near = [(w, mean) for w, mean in zip(grid, means, strict=True) if mean >= max(means) - _NEAR]
    return min(
        near, key=lambda each: (np.count_nonzero(each[0][1:]), -round(each[1], 6), max(each[0]))
    )[0]


def _fit(pair: tuple[str, str], sets: Sequence[AskedSet], names: Sequence[str]) -> dict[str, float]:
    usable = [
        any(not np.isnan(parts[:, column]).all() for each in sets for parts in each.parts)
        for column in range(len(names))
    ]
    grid = _grid(len(names), usable)
    scores = {each.name: each.scores(grid) for each in sets}
    best = _best(grid, np.mean(list(scores.values()), axis=0))
    shown = ", ".join(f"{name} {w:.2f}" for name, w in zip(names, best, strict=True))
    print(f"\n{pair[0]} → {pair[1]}: {shown}")
    print(f"{'set':<16}" + "".join(f"{name[:14]:>16}" for name in names)
          + f"{'fitted':>16}{'left out':>16}")  # fmt: skip
    alone = np.eye(len(names)).tolist()
    for each in sets:
        others = [found for name, found in scores.items() if name != each.name]
        left = float("nan")
        if others:
            left = scores[each.name][grid.index(_best(grid, np.mean(others, axis=0)))]
        print(f"{each.name:<16}" + "".join(f"{value:>16.4f}" for value in each.scores(alone))
              + f"{scores[each.name][grid.index(best)]:>16.4f}{left:>16.4f}")  # fmt: skip
    return {n: w for n, w, is_used in zip(names, best, usable, strict=True) if is_used}


def _write(file: Path, fitted: Mapping[tuple[str, str], Mapping[str, float]],
           sets: Sequence[AskedSet]) -> None:  # fmt: skip
    """Replace the rows of the fitted pairs and searchers; rows of other searchers stay."""
    text = file.read_text("utf-8")
    head, _, _ = text.partition("provenance:")
    old = yaml.safe_load(text)
    rows = {(row["question"], row["passage"], *sorted(row["weights"])): row for row in old["rows"]}
    for (question, passage), weights in fitted.items():
        rows[question, passage, *sorted(weights)] = {
            "question": question,
            "passage": passage,
            "weights": {name: round(weight, 3) for name, weight in weights.items()},
        }
    content = {
        "provenance": {
            "made_by": "benchmarks/fit_fusion.py",
            "made_on": datetime.now(UTC).date().isoformat(),
            "measure": "nDCG@10 by document, mean over sets",
            "sets": old["provenance"]["sets"]
            | {f"{q} → {p}": sorted(s.name for s in sets if s.pair == (q, p)) for q, p in fitted},
            "score_mode": "normalize",
            "normalize": "min_max",
        },
        "fallback": old["fallback"],
        "rows": list(rows.values()),
    }  # fmt: skip
    file.write_text(head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True), "utf-8")


def main() -> None:
    """Fit, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--limit", type=int, default=None, help="questions at most of each set")
    parser.add_argument("--write", action="store_true", help="store them in configs/fusion.yaml")
    given = parser.parse_args()
    settings = shipped_settings()
    names = ["lexical", *(model.model for model in settings.embed.models)]
    folders = [path for folder in given.folders or [_DATA / "retrieval" / "beir"]
               for path in find_sets(folder)]  # fmt: skip
    cache = given.cache or default_cache()
    sets = [each for path in folders if (each := _ask(path, settings, cache, given.limit))]
    pairs = sorted({each.pair for each in sets})
    fitted = {pair: _fit(pair, [s for s in sets if s.pair == pair], names) for pair in pairs}
    if given.write:
        _write(Path(__file__).resolve().parents[1] / "configs" / "fusion.yaml", fitted, sets)


if __name__ == "__main__":
    main()
