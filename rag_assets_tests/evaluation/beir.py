"""Small evaluation sets that tests make."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rag_assets.workspace import Settings, shipped_settings

BIRDS = (
    ("owl", "Owls", "Owls hunt at night and hear a mouse below the snow."),
    ("hen", "Hens", "Hens lay an egg almost every day."),
    ("gull", "", "Gulls follow the plough for worms."),
    ("Title Only", "Storks return in March", ""),
    ("鹰", "", "老鹰在高山上筑巢。"),
)
QUESTIONS = (
    ("q1", "what hunts at night", {"owl": 1}),
    ("q2", "which bird lays an egg", {"hen": 2, "gull": 0}),
    ("q3", "storks in March", {"Title Only": 1}),
    ("q4", "老鹰在哪里筑巢", {"鹰": 1}),
)


def write_set(
    folder: Path,
    corpus: Sequence[tuple[str, str, str]] = BIRDS,
    questions: Sequence[tuple[str, str, Mapping[str, int]]] = QUESTIONS,
) -> Path:
    """Write an evaluation set in the layout of BEIR and return its folder."""
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        "".join(
            json.dumps({"_id": identity, "title": title, "text": text}, ensure_ascii=False) + "\n"
            for identity, title, text in corpus
        ),
        encoding="utf-8",
    )
    (folder / "queries.jsonl").write_text(
        "".join(
            json.dumps({"_id": identity, "text": text}, ensure_ascii=False) + "\n"
            for identity, text, _ in questions
        ),
        encoding="utf-8",
    )
    rows = ["query-id\tcorpus-id\tscore"]
    for identity, _, judged in questions:
        rows += [f"{identity}\t{document}\t{score}" for document, score in judged.items()]
    (folder / "qrels" / "test.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def hashing_settings(folder: Path, more: str = "") -> Settings:
    """Return the shipped settings with the model that needs no files."""
    file = folder / "settings.yaml"
    file.write_text(
        "embed: {models: [{kind: hashing, model: hashing}]}\nparse: {workers: 1}\n" + more,
        encoding="utf-8",
    )
    return shipped_settings(file)
