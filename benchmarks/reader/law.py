"""Examples of questions about Chinese law and the articles that decide them, to teach from.

    python -m benchmarks.reader.law WORKSPACE OUT              # questions, for train_questions
    python -m benchmarks.reader.law WORKSPACE OUT --pairs      # pairs besides, for train

WORKSPACE has a namespace of template `law` with the vault of RAG_SHARED_DATA/retrieval/law in it.
Questions are those of written/law_questions.jsonl and law_asked.tsv (two or more for each of some
thousand articles, written for this) and of STARD (Su et al., 2024; MIT), whose vault names the
articles by file. OUT gets encoder.npz and card.json as of benchmarks.reader.examples, vectors.npy
(of the passages, shape (passages, 384)), asked.npz, and with --pairs examples.npz: each question
with a deciding article, and with what words and vectors of the library find first beside it.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.evaluating.law import article_file, article_number, path_tails, read_law_questions
from benchmarks.known_drafts import shared_data
from benchmarks.reader.packing import (
    IRRELEVANT,
    RELEVANT,
    distinct_words,
    folds_of,
    write_encoder,
    write_examples,
)
from rag_assets.embedding.local import bundled_vocabulary
from rag_assets.embedding.taught import pair_ids
from rag_assets.model.settings import RetrieveSettings
from rag_assets.retrieval import Reader, Retriever
from rag_assets.workspace import Workspace

_WRITTEN = Path(__file__).parent / "written"
_BEGIN, _END = 0, 2
_MOST_TOKENS = 128
# What is found first beside the deciding articles: so many by vectors and by words; of these so
# many are taught as wrong. The very first often decide, too, and nobody said so.
_FOUND, _WRONG = 24, 4
_SEED = 7


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the rows of the passages that decide it, or one pair of it."""

    one: str
    other: str
    label: int
    origin: str
    group: str


class Passages:
    """The passages of a library that hold articles, as rows of a matrix."""

    def __init__(self, reader: Reader) -> None:
        columns = ["chunk_id", "doc_uid", "law_title", "section_path", "articles", "text"]
        table = reader.fetch_columns(columns).sort_by("chunk_id")
        self.rows = [row for row in table.to_pylist() if row["articles"]]
        self.place = {row["chunk_id"]: number for number, row in enumerate(self.rows)}
        (model,) = reader.models
        found = reader.fetch_vectors(model.fingerprint, list(self.place))
        self.vectors = np.stack([found[one] for one in self.place]).astype(np.float32)
        uids = {
            tail: row["doc_uid"]
            for row in reader.sources().select(["doc_uid", "path", "status"]).to_pylist()
            if row["status"] == "published"
            for tail in path_tails(row["path"])
        }
        by_article: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, row in enumerate(self.rows):
            for article in row["articles"]:
                by_article[row["doc_uid"], article["key"]].append(number)
        self._uids, self._by_article = uids, by_article

    def of(self, article: str) -> list[int]:
        """Return the rows of `path.md#第X条`; none where the library lacks it."""
        uid = self._uids.get(article_file(article))
        return self._by_article.get((uid, article_number(article)), []) if uid else []

    def read(self, number: int) -> str:
        """Return a passage as `answering.law.tools.text_to_read` shows articles."""
        row = self.rows[number]
        heading = row["section_path"][-1] if row["section_path"] else ""
        return f"{row['law_title']} {heading} {' '.join(row['text'].split())}"


def known_questions() -> Iterator[tuple[str, str]]:
    """Yield articles, `path.md#第X条`, each with a written question that it decides."""
    for line in (_WRITTEN / "law_questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for question in (row["plain"], row["general"]):
            yield f"{row['law']}.md#{row['article']}", question
    for line in (_WRITTEN / "law_asked.tsv").read_text(encoding="utf-8").splitlines():
        law, article, *own = line.split("\t")
        for question in own:
            yield f"{law}.md#{article}", question


def questions(passages: Passages) -> Iterator[tuple[str, list[int], str, str]]:
    """Yield each question with the rows that decide it, its set, and what it must not be split by:
    of the written ones the article, of STARD's the question.
    """
    for article, text in known_questions():
        if rows := passages.of(article):
            yield text, rows, "written", article
    stard = read_law_questions(shared_data() / "retrieval" / "law")
    for asked in stard.questions:
        named = {*stard.judgements[asked.id], *stard.alternatives.get(asked.id, ())}
        rows = sorted({row for article in named for row in passages.of(article)})
        if rows:
            yield asked.text, rows, "stard", asked.id


def question_ids(texts: Sequence[str]) -> list[list[int]]:
    """Return the tokens of questions as multilingual-e5-small reads them."""
    vocabulary, _ = bundled_vocabulary()
    ids = vocabulary.ids([f"query: {text}" for text in texts])
    return [[_BEGIN, *own[: _MOST_TOKENS - 2], _END] for own in ids]


def wrong_ones(
    retriever: Retriever, asked: Sequence[tuple[str, list[int], str, str]], passages: Passages
) -> Iterator[list[int]]:
    """Yield rows that do not decide each question, though words or vectors find them."""
    from rag_assets.retrieval import make_query, search

    (reader,) = retriever.readers
    settings: RetrieveSettings = retriever.settings.model_copy(
        update={"pool_k": _FOUND, "rerank_k": _FOUND, "top_k": _FOUND}
    )
    dice = np.random.default_rng(_SEED)
    for text, right, _, _ in asked:
        hits = search([reader], make_query(text, [reader], settings), settings)
        found = [passages.place[hit.chunk_id] for hit in hits if hit.chunk_id in passages.place]
        texts = {passages.rows[row]["text"] for row in right}
        wrong = [
            row for row in found if row not in right and passages.rows[row]["text"] not in texts
        ]
        yield [int(row) for row in dice.permutation(wrong)[:_WRONG]]


def main() -> None:
    """Write what training needs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pairs", action="store_true", help="write examples.npz besides")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with Retriever(Workspace.open(given.workspace)) as retriever:
        passages = Passages(retriever.readers[0])
        asked = list(questions(passages))
        examples: list[Example] = []
        if given.pairs:
            found = wrong_ones(retriever, asked, passages)
            for (text, right, origin, group), wrong in zip(asked, found, strict=True):
                for rows, label in ((right[:2], RELEVANT), (wrong, IRRELEVANT)):
                    examples += [
                        Example(text, passages.read(row), label, origin, group) for row in rows
                    ]
    ids = question_ids([text for text, *_ in asked])
    pairs = pair_ids([(each.one, each.other) for each in examples])
    words = distinct_words(ids, pairs)
    write_encoder(given.out / "encoder.npz", words)
    if given.pairs:
        write_examples(given.out / "examples.npz", examples, pairs, words, _SEED)
    np.save(given.out / "vectors.npy", passages.vectors)
    np.savez_compressed(given.out / "asked.npz", **_packed(asked, ids, words))
    _write_card(given.out / "card.json", asked, examples)
    print(f"{len(asked)} questions, {len(passages.rows)} passages, {len(examples)} pairs")


def _packed(
    asked: Sequence[tuple[str, list[int], str, str]],
    ids: Sequence[Sequence[int]],
    words: NDArray[np.int64],
) -> Mapping[str, NDArray[np.generic]]:
    return {
        "tokens": np.searchsorted(words, np.concatenate(ids)),
        "lengths": np.array([len(own) for own in ids]),
        "right": np.concatenate([right for _, right, _, _ in asked]),
        "right_counts": np.array([len(right) for _, right, _, _ in asked]),
        "is_stard": np.array([origin == "stard" for _, _, origin, _ in asked]),
        "folds": folds_of([group for *_, group in asked]),
    }


def _write_card(
    path: Path,
    asked: Sequence[tuple[str, list[int], str, str]],
    examples: Sequence[Example],
) -> None:
    origins = [one.origin for one in examples] or [origin for _, _, origin, _ in asked]
    licences = {"written": "CC0-1.0", "stard": "MIT"}
    card = [
        {"set": name, "label": RELEVANT, "examples": origins.count(name), "licence": licences[name]}
        for name in licences
    ]
    path.write_text(json.dumps(card, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
