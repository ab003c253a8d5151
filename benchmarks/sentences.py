"""Where sentences end: our splitter beside the libraries that do the same.

    python benchmarks/sentences.py [--libraries FOLDER] [--json OUT]

Truth: `sentences.txt` beside this file (written for the purpose, hard on purpose, English and
Chinese), and the hand-annotated sentences of BioScope in the shared data (RAG_SHARED_DATA), put
together to paragraphs of eight. The error rate is (ends missed + ends invented) / true ends.
Libraries that are not installed are named and left out: `pip install --target FOLDER pysbd syntok
nupunkt sentencex blingfire`.
"""

import argparse
import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rag_assets.chunking import split_sentences

_HERE = Path(__file__).resolve().parent
_DATA = Path(os.environ.get("RAG_SHARED_DATA", _HERE.parents[1] / "shared" / "data"))
_SENTENCES_A_PARAGRAPH = 8
_ROUNDS = 3
Splitter = Callable[[str], Sequence[str]]


def _ours(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def _pysbd() -> Splitter:
    module = importlib.import_module("pysbd")
    english = module.Segmenter(language="en", clean=False)
    chinese = module.Segmenter(language="zh", clean=False)
    return lambda text: (english if text.isascii() or "。" not in text else chinese).segment(text)


def _syntok() -> Splitter:
    segmenter = importlib.import_module("syntok.segmenter")
    return lambda text: [
        "".join(token.spacing + token.value for token in sentence)
        for paragraph in segmenter.process(text)
        for sentence in paragraph
    ]


def _nupunkt() -> Splitter:
    split: Splitter = importlib.import_module("nupunkt").sent_tokenize
    return split


def _sentencex() -> Splitter:
    module = importlib.import_module("sentencex")
    return lambda text: list(module.segment("zh" if "。" in text else "en", text))


def _blingfire() -> Splitter:
    module = importlib.import_module("blingfire")
    return lambda text: module.text_to_sentences(text).split("\n")


_SPLITTERS: dict[str, Callable[[], Splitter]] = {
    "rag_assets": lambda: _ours,
    "pysbd": _pysbd,
    "syntok": _syntok,
    "nupunkt": _nupunkt,
    "sentencex": _sentencex,
    "blingfire": _blingfire,
}


def _written() -> dict[str, list[list[str]]]:
    english: list[list[str]] = []
    chinese: list[list[str]] = []
    for line in (_HERE / "sentences.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            sentences = [sentence.strip() for sentence in line.split("¦")]
            (chinese if "。" in line else english).append(sentences)
    return {"hard, English": english, "hard, Chinese": chinese}


def _annotated() -> dict[str, list[list[str]]]:
    path = _DATA / "claims" / "assertions" / "hedges.jsonl"
    if not path.is_file():
        print(f"no {path}: set RAG_SHARED_DATA for the annotated sentences", file=sys.stderr)
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    sets = {}
    for name in ("bioscope_full", "bioscope_abstracts"):
        sentences = [row["sentence"].strip() for row in rows if row["set"] == name]
        # A title without a stop has no end to be found.
        ended = [sentence for sentence in sentences if sentence.endswith((".", "?", "!"))]
        sets[name] = [
            ended[start : start + _SENTENCES_A_PARAGRAPH]
            for start in range(0, len(ended), _SENTENCES_A_PARAGRAPH)
        ]
    return sets


def _ends(sentences: Sequence[str]) -> set[int]:
    """Return the ends but the last, counted in visible characters."""
    ends, position = set(), 0
    for sentence in sentences:
        position += len("".join(sentence.split()))
        ends.add(position)
    return ends - {0, position}


def _measure(split: Splitter, paragraphs: Sequence[Sequence[str]]) -> tuple[int, int, int]:
    missed = invented = true = 0
    for sentences in paragraphs:
        joiner = "" if any("。" in sentence for sentence in sentences) else " "
        wanted, found = _ends(sentences), _ends(split(joiner.join(sentences)))
        missed += len(wanted - found)
        invented += len(found - wanted)
        true += len(wanted)
    return missed, invented, true


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--libraries", type=Path, help="folder of `pip install --target`")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.libraries:
        sys.path.insert(0, str(options.libraries))
    sets = {**_written(), **_annotated()}
    figures = {}
    print(f"{'splitter':12}" + "".join(f"{name:>22}" for name in sets) + f"{'MB/s':>8}")
    for name, load in _SPLITTERS.items():
        try:
            split = load()
        except ImportError as error:
            print(f"{name:12} not installed ({error})")
            continue
        row = {key: _measure(split, paragraphs) for key, paragraphs in sets.items()}
        text = " ".join(s for paragraphs in sets.values() for p in paragraphs for s in p)
        seconds = []
        for _ in range(_ROUNDS):
            started = time.perf_counter()
            split(text)
            seconds.append(time.perf_counter() - started)
        speed = len(text.encode()) / 1e6 / statistics.median(seconds)
        shown = (
            f"{100 * (missed + invented) / true:.1f} % ({missed}+{invented}/{true})"
            for missed, invented, true in row.values()
        )
        print(f"{name:12}" + "".join(f"{cell:>22}" for cell in shown) + f"{speed:8.2f}")
        figures[name] = {**row, "megabytes_per_second": round(speed, 2)}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
