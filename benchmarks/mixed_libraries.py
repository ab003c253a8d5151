"""Measure what is found in libraries with a little of one language among much of another.

    python benchmarks/mixed_libraries.py [--libraries N] [--questions N] [--json OUT]

Paragraphs of XQuAD in English and in Chinese (`retrieval/beir` of RAG_SHARED_DATA, default
../shared/data) are published once. Each library is a part of them, chosen by a filter: all
paragraphs of some articles in one language, those of all other articles in the other. Questions in
both languages, about either part, are asked as a user asks. Prints nDCG@10 and how often the right
paragraph is first, by the size of the smaller part, its language, the question's and the answer's.
"""

import argparse
import json
import math
import os
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rag_assets.evaluation.retrieval import Latency, encode_questions
from rag_assets.evaluation.sets import RetrievalSet, read_retrieval_set
from rag_assets.evaluation.workspaces import (
    MadeFile,
    built_workspace,
    default_cache,
    markdown_of,
)
from rag_assets.model.settings import RetrieveSettings
from rag_assets.retrieval import AskedQuery, Reader, Retriever, SearchFilters, rank_chunks
from rag_assets.workspace import shipped_settings

_SEED = 1
_OTHER = {"en": "zh", "zh": "en"}
# Articles in the smaller part; five paragraphs each, of 48 articles.
_SIZES = (3, 6, 24)


def _rows(data: Path) -> dict[str, RetrievalSet]:
    """Return the sets by the language of their paragraphs."""
    return {
        "en": read_retrieval_set(data / "xquad_zh_en"),
        "zh": read_retrieval_set(data / "xquad_en_zh"),
    }


def _article(identity: str) -> str:
    """Return what `zh_p19_4` is of: `p19`."""
    return identity.split("_")[1]


def _place(
    reader: Reader,
    query: AskedQuery,
    library: Mapping[str, str],
    wanted: str,
    settings: RetrieveSettings,
) -> int | None:
    """Return the place, from 0, of a paragraph among ten of a library; None where it is not."""
    filters = SearchFilters(citable_only=True, doc_uids=tuple(library.values()))
    hits = rank_chunks([reader], query, settings, filters).hits
    order = list(dict.fromkeys(hit.doc_uid for hit in hits))[:10]
    return order.index(library[wanted]) if library[wanted] in order else None


def _libraries(
    articles: Sequence[str], count: int, drawing: random.Random
) -> Iterator[tuple[int, str, dict[str, set[str]]]]:
    """Yield size, language of the smaller part, and the articles in each language."""
    for size in _SIZES:
        for small, large in _OTHER.items():
            for _ in range(count):
                few = set(drawing.sample(list(articles), size))
                yield size, small, {small: few, large: set(articles) - few}


def main() -> None:
    """Publish, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--libraries", type=int, default=4, help="of each size and language")
    parser.add_argument("--questions", type=int, default=25, help="of each kind a library")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    data = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data")) / "retrieval" / "beir"
    rows = _rows(data)
    settings = shipped_settings()
    files = [
        MadeFile(row.id, markdown_of(row.title, row.text))
        for one in rows.values()
        for row in one.corpus
    ]
    found: dict[str, list[float]] = defaultdict(list)
    firsts: dict[str, list[bool]] = defaultdict(list)
    drawing = random.Random(_SEED)
    with built_workspace(files, settings, default_cache()) as built:
        uids = {identity: uid for uid, ids in built.ids.items() for identity in ids}
        namespace = built.namespace
        with Retriever(namespace.workspace, [namespace.name], settings.retrieve) as retriever:
            reader = retriever.readers[0]
            # Questions in one language are those of the set whose paragraphs are in the other.
            asked = {}
            for language, other in _OTHER.items():
                queries = rows[other].queries
                encoded = encode_questions(
                    [query.text for query in queries],
                    reader, settings.retrieve, Latency(),
                )  # fmt: skip
                asked[language] = [
                    (query, next(iter(rows[other].judgements[row.id])).split("_", 1)[1])
                    for row, query in zip(queries, encoded, strict=True)
                ]
            articles = sorted({_article(identity) for identity in uids})
            for size, small, parts in _libraries(articles, given.libraries, drawing):
                library = {key: uid for key, uid in uids.items()
                           if _article(key) in parts[key.split("_")[0]]}  # fmt: skip
                for language, questions in asked.items():
                    for answer in _OTHER:
                        able = [
                            (query, f"{answer}_{rest}") for query, rest in questions
                            if f"{answer}_{rest}" in library
                        ]  # fmt: skip
                        kind = f"{size} articles {small}, question {language}, answer {answer}"
                        for query, wanted in drawing.sample(able, min(given.questions, len(able))):
                            place = _place(reader, query, library, wanted, settings.retrieve)
                            gain = 0.0 if place is None else 1 / math.log2(2 + place)
                            found[kind].append(gain)
                            firsts[kind].append(place == 0)
    figures = {
        kind: {
            "questions": len(gains),
            "ndcg_at_10": sum(gains) / len(gains),
            "first": sum(firsts[kind]) / len(gains),
        }
        for kind, gains in found.items()
    }
    for kind, own in figures.items():
        print(kind, *(f"{name} {value:.3g}" for name, value in own.items()))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
