"""Put the questions whose deciding article is known into the package: configs/law_asked.npz.

    python -m benchmarks.reader.known WORKSPACE

WORKSPACE as of benchmarks.reader.law. Reads written/law_questions.jsonl and written/law_asked.tsv
(law, article and its questions), both written for this (CC0), and writes beside configs/
law_asked.npz its card. Run it again after `ship law_questions`: the vectors are by those layers.
"""

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.reader.law import Passages, known_questions
from rag_assets.embedding.taught import load_question_encoder, pack
from rag_assets.law import wording_keys
from rag_assets.model import hash_bytes, usable_processors
from rag_assets.retrieval import Retriever
from rag_assets.workspace import Workspace, configs_folder

_AT_ONCE = 500


def read_known(workspace: Path) -> Iterator[tuple[int, str]]:
    """Yield the key of the article's wording and the question, once each."""
    with Retriever(Workspace.open(workspace)) as retriever:
        passages = Passages(retriever.readers[0])
    seen = set()
    for article, question in known_questions():
        for row in passages.of(article)[:1]:
            for key in wording_keys(passages.rows[row]["text"])[:1]:
                if (key, question) not in seen:
                    seen.add((key, question))
                    yield key, question


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("workspace", type=Path)
    known = sorted(read_known(parser.parse_args().workspace))
    texts = [text for _, text in known]
    encoder = load_question_encoder("law")
    parts = [texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE)]
    with ThreadPoolExecutor(usable_processors()) as workers:
        vectors = np.concatenate(list(workers.map(encoder.encode_queries, parts)))
    file = configs_folder() / "law_asked.npz"
    packed = pack({"vectors": vectors})
    np.savez_compressed(file, wordings=np.array([key for key, _ in known]), **packed)
    card = {
        "sha256": hash_bytes(file.read_bytes()),
        "encoder": "law_questions.npz",
        "tasks": ["questions in everyday words that an article decides"],
        "questions": len(known),
        "articles": len({key for key, _ in known}),
        "licence": "CC0-1.0",
    }
    text = json.dumps(card, indent=1, ensure_ascii=False)
    file.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB, {card['questions']} questions")


if __name__ == "__main__":
    main()
