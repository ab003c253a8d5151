"""Make the examples that the reader is taught with.

    python -m benchmarks.reader.examples OUT [--cache DIR] [--seed N]

Reads RAG_SHARED_DATA (default ../shared/data) and writes OUT/examples.npz, OUT/encoder.npz and
OUT/card.json: packed tokens, the encoder's weights with the words that occur, and how many
examples come from which set under which licence. Training needs these alone.

Two more sets were written for this: written/questions.jsonl and written/sentences.jsonl, about 18
questions and 14 sentences for each source. They hold digests of the sentences that answer or decide
(`digest`) in place of the sentences.

Three tasks, one label each:
    supports  SUPPORTED, CONTRADICTED, NOT_STATED; NOT_SUPPORTED where a set tells no more
    answers   ANSWERS or ANSWERS_NOT: a question and a sentence with its neighbours
    relevant  RELEVANT or IRRELEVANT: a question or statement and a passage
"""

import argparse
import hashlib
import json
import lzma
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.evaluating.drafts import bare
from benchmarks.known_drafts import CACHE, read_documents, shared_data
from benchmarks.reader.changes import FRAMES, ORDERS, changed
from benchmarks.reader.packing import (
    ANSWERS,
    ANSWERS_NOT,
    CONTRADICTED,
    IRRELEVANT,
    NOT_STATED,
    NOT_SUPPORTED,
    RELEVANT,
    SUPPORTED,
    Asked,
    distinct_words,
    write_encoder,
    write_examples,
    write_questions,
)
from rag_assets.chunking import split_sentences
from rag_assets.embedding import load_embedder
from rag_assets.embedding.bundled_files import E5
from rag_assets.embedding.local import read_e5
from rag_assets.embedding.taught import pair_ids
from rag_assets.model.settings import ModelSettings
from rag_assets.retrieval.finding import EvidenceFinder, OpenDocument, shown_sentence

WRITTEN = Path(__file__).with_name("written")

# Sets of entailment/open: rows at most, licence. Those that are left out rewarded overlap or were
# long; see SOURCES.md there.
ENTAILMENT = {
    "summedits": (3500, "Apache-2.0"), "evidence_inference": (4400, "MIT"),
    "feverous_dev_text": (3000, "CC-BY-SA-3.0"), "cfever_zh": (9000, "Apache-2.0"),
    "frank": (1500, "MIT"), "bump": (1100, "MIT"), "falke_sent_pairs": (600, "CC-BY-SA-4.0"),
    "contract_nli": (3000, "CC-BY-4.0"), "wice_train_partial": (400, "permissive"),
    "uhgeval_zh_rest": (3200, "Apache-2.0"), "rc_zh_constructed": (6000, "CC-BY-SA-4.0"),
    "argkp": (4000, "CDLA-Sharing-1.0"), "exfever_explanations": (2000, "MIT"),
    "cad_nli": (5000, "Apache-2.0"), "breaking_nli": (2000, "CC-BY-SA-4.0"),
    "negation_nli": (4500, "MIT"), "pubmedqa_conclusions": (1700, "MIT"),
    "med_monotonicity": (1500, "CC-BY-SA-4.0"),
}  # fmt: skip
RETRIEVAL = {
    "xquad_zh_zh": (700, "CC-BY-SA-4.0"), "xquad_en_zh": (700, "CC-BY-SA-4.0"),
    "xquad_zh_en": (700, "CC-BY-SA-4.0"), "cmrc": (1900, "CC-BY-SA-4.0"),
    "hotpotqa_sub": (120, "CC-BY-SA-4.0"), "pubmedqa": (600, "MIT"),
}  # fmt: skip
_LABELS = {
    "SUPPORT": SUPPORTED, "REFUTE": CONTRADICTED, "NEUTRAL": NOT_STATED, "NOT": NOT_SUPPORTED,
}  # fmt: skip
# Kinds of false sentences of which the deciding quotation says otherwise; of the others nothing is.
_OTHERWISE = frozenset({
    "number", "unit", "direction", "negation", "comparison_reversed", "entity", "wrong_article",
})  # fmt: skip
# Of supported rows the share that is framed, of wrong windows that with an order to the reader.
_FRAMED, _ORDERED = 0.2, 0.05
_COPIES, _WRONG_WINDOWS, _MOST_HOLDING = 40, 2, 2
# Sentences that do not answer: nearest by words; drawn of the nearest by meaning; any of the same
# document; and the nearest by meaning of another one.
_WRONG_BY_WORDS, _WRONG_BY_MEANING, _OF_NEAREST, _FAR = 1, 3, 8, 1
# Longer pairs are left out: all data together has to travel in 64 MiB.
_MOST_OF_PAIR = 192
# For the finder: wrong sentences, and tokens, of a question at most.
_MOST_WRONG, _MOST_TOKENS = 16, 96
_DIGEST = 10
_WINDOW_CHARACTERS, _LEAST_COPY, _MOST_COPY = 700, 20, 400


@dataclass(frozen=True, slots=True)
class Example:
    """Two texts and their label; `origin` is a key of the card, folds are made by `group`."""

    one: str
    other: str
    label: int
    origin: str
    group: str


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def near_sentences(evidence: str, claim: str) -> str:
    """Return the sentences of a text that share most with a claim, in its order."""
    if len(evidence) <= _WINDOW_CHARACTERS:
        return evidence
    from rapidfuzz import fuzz

    spans = list(split_sentences(evidence))
    ranked = sorted(spans, key=lambda span: -fuzz.token_set_ratio(claim, evidence[slice(*span)]))
    kept: list[tuple[int, int]] = []
    for start, end in ranked:
        if sum(b - a for a, b in kept) + end - start <= _WINDOW_CHARACTERS:
            kept.append((start, end))
    return (
        " ".join(evidence[start:end] for start, end in sorted(kept))
        or evidence[:_WINDOW_CHARACTERS]
    )


def entailment(dice: random.Random) -> Iterator[Example]:
    """Yield rows of the open sets; of a long evidence the sentences nearest to the claim."""
    for name, (most, _) in ENTAILMENT.items():
        packed = shared_data() / "entailment" / "open" / f"{name}.jsonl.xz"
        with lzma.open(packed, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        dice.shuffle(rows)
        # No label can be guessed from its frequency.
        quota, taken = most / len({row["label"] for row in rows}), Counter[str]()
        for row in rows:
            if taken[row["label"]] >= quota * 1.3 or taken.total() >= most:
                continue
            taken[row["label"]] += 1
            group = f"{name} {row.get('doc', row['evidence'][:80])}"
            evidence = near_sentences(row["evidence"], row["claim"])
            yield Example(row["claim"], evidence, _LABELS[row["label"]], name, group)


def _opened(names: Sequence[str], cache: Path) -> dict[str, OpenDocument]:
    finder = EvidenceFinder()
    documents = read_documents([{"paper": name} for name in names], cache)
    return {name: finder.open(one.passages, one.title) for name, one in documents.items()}


def _around(document: OpenDocument, index: int, dice: random.Random) -> str:
    """Return a window of neighbouring sentences with one of them at a place drawn at random."""
    sentences = document.sentences
    before, behind = dice.randrange(3), dice.randrange(3)
    run = [
        each.text
        for each in sentences[max(0, index - before) : index + behind + 1]
        if each.run == sentences[index].run
    ]
    return " ".join(run)[:_WINDOW_CHARACTERS]


def drafts(
    rows: Sequence[dict[str, Any]], opened: dict[str, OpenDocument], dice: random.Random
) -> Iterator[Example]:
    """Yield drafted sentences with what decides them, with what the finder shows, changed."""
    for row in rows:
        said, paper = row["sentence"], row["paper"]
        decides = " … ".join(row["evidence"])
        shown = [window.text for window in opened[paper].find(said)]
        begins = [bare(part)[:60] for part in row["evidence"] if len(bare(part)) > 9]
        held = [text for text in shown if any(one in bare(text) for one in begins)]
        others = [text for text in shown if text not in held]
        is_whole = len(row["evidence"]) == 1
        if row["label"] == "SUPPORTED":
            yield Example(said, decides, SUPPORTED, "drafts", paper)
            if len(held) == 1 and is_whole:
                yield Example(said, held[0], SUPPORTED, "drafts", paper)
            for other in changed(said, dice, 2):
                yield Example(other, decides, CONTRADICTED, "drafts, changed", paper)
            if dice.random() < _FRAMED:
                frame = dice.choice(FRAMES).format(decides)
                yield Example(said, frame, NOT_STATED, "drafts, framed", paper)
        else:
            label = CONTRADICTED if row["kind"] in _OTHERWISE else NOT_SUPPORTED
            for text in ([decides] if decides else []) + held * (row["label"] == "NOT"):
                yield Example(said, text, label, "drafts", paper)
        if row["label"] != "SUPPORTED" or is_whole:
            for text in others[:_WRONG_WINDOWS]:
                order = f" {dice.choice(ORDERS)}" if dice.random() < _ORDERED else ""
                yield Example(said, text + order, NOT_STATED, "drafts, beside", paper)
        for part in row["evidence"]:
            yield Example(said, part, RELEVANT, "drafts", paper)
        if others:
            yield Example(said, others[-1], IRRELEVANT, "drafts, beside", paper)


def copies(opened: dict[str, OpenDocument], dice: random.Random) -> Iterator[Example]:
    """Yield sentences of documents that repeat their source, or change it, or its source."""
    for name, document in opened.items():
        long_enough = [
            index
            for index, each in enumerate(document.sentences)
            if each.kind == "text" and _LEAST_COPY <= len(each.text) <= _MOST_COPY
        ]
        for index in dice.sample(long_enough, min(_COPIES, len(long_enough))):
            said = document.sentences[index].text
            window = _around(document, index, dice)
            kind = dice.randrange(4)
            variants = list(changed(said, dice, 1))
            if kind == 0 or not variants:
                yield Example(said, window, SUPPORTED, "copies", name)
            elif kind == 1:
                yield Example(variants[0], window, CONTRADICTED, "copies, changed", name)
            elif said in window:
                # Not how a sentence is written tells, but what the source has.
                source = window.replace(said, variants[0])
                if kind == 2:
                    yield Example(said, source, CONTRADICTED, "copies, changed", name)
                else:
                    yield Example(variants[0], source, SUPPORTED, "copies, changed", name)
            if dice.random() < 0.1:
                frame = dice.choice(FRAMES).format(said)
                yield Example(said, frame, NOT_STATED, "copies, framed", name)
            near = [w.text for w in document.find(said) if bare(said)[:40] not in bare(w.text)]
            if near and dice.random() < 0.5:
                yield Example(said, near[0], NOT_STATED, "copies, beside", name)


@dataclass(frozen=True, slots=True)
class Mined:
    """A question with the sentences of its document by their indices.

    Args:
        holding: those that answer.
        wrong: those that do not, the nearest by meaning first; `by_words` by words.
        elsewhere: of another document, drawn, the nearest by meaning.
    """

    asked: str
    paper: str
    holding: list[int]
    wrong: list[int]
    by_words: list[int]
    elsewhere: tuple[str, int]


def mine(
    rows: Sequence[dict[str, Any]], opened: dict[str, OpenDocument], dice: random.Random
) -> list[Mined]:
    """Return questions with sentences that answer them and with those that look as if they did."""
    encoder = load_embedder(ModelSettings(kind="bundled", model=E5, dtype="int8"))
    names = sorted({row["paper"] for row in rows})
    vectors = {
        name: encoder.encode_passages([each.text for each in opened[name].sentences])
        for name in names
    }
    mined = []
    for row in rows:
        paper, asked = row["paper"], row["question"]
        answers = [bare(answer) for answer in row["answers"]]
        holding = [
            index
            for index, text in enumerate(bare(each.text) for each in opened[paper].sentences)
            if text and any(text in answer or answer in text for answer in answers)
        ]
        asked_vector = encoder.encode_queries([asked])[0]
        nearest = (-(vectors[paper] @ asked_vector)).argsort().tolist()
        other = dice.choice([name for name in names if name != paper])
        mined.append(
            Mined(
                asked, paper, holding,
                [index for index in nearest if index not in holding],
                [index for index in opened[paper].rank(asked) if index not in holding],
                (other, int((vectors[other] @ asked_vector).argmax())),
            )
        )  # fmt: skip
    return mined


def questions(
    mined: Sequence[Mined], opened: dict[str, OpenDocument], dice: random.Random
) -> Iterator[Example]:
    """Yield questions with sentences that answer them, and that do not, for the pair model."""
    for one in mined:
        document = opened[one.paper]
        for index in dice.sample(one.holding, min(_MOST_HOLDING, len(one.holding))):
            text = shown_sentence(document.sentences, index)
            yield Example(one.asked, text, ANSWERS, "questions", one.paper)
            around = _around(document, index, dice)
            yield Example(one.asked, around, RELEVANT, "questions", one.paper)
        nearest = one.wrong[:_OF_NEAREST]
        near = dice.sample(nearest, min(_WRONG_BY_MEANING, len(nearest)))
        beyond = one.by_words[20:]
        far = dice.sample(beyond, min(_FAR, len(beyond)))
        other, place = one.elsewhere
        wrong = [
            shown_sentence(document.sentences, index)
            for index in dict.fromkeys([*near, *one.by_words[:_WRONG_BY_WORDS], *far])
        ]
        for text in [*wrong, shown_sentence(opened[other].sentences, place)]:
            yield Example(one.asked, text, ANSWERS_NOT, "questions", one.paper)
        for index in far:
            around = _around(document, index, dice)
            yield Example(one.asked, around, IRRELEVANT, "questions", one.paper)


def asked_of(mined: Sequence[Mined], opened: dict[str, OpenDocument]) -> Iterator[Asked]:
    """Yield the answerable questions with prompts, as the finder's encoder takes them."""
    bert = read_e5(ModelSettings(kind="bundled", model=E5))
    for one in mined:
        texts = [
            bert.passage_prompt + (f"{each.told} {each.text}" if each.told else each.text)
            for each in opened[one.paper].sentences
        ]
        if one.holding:
            yield Asked(
                bert.query_prompt + one.asked,
                [texts[index] for index in one.holding],
                [texts[index] for index in one.wrong[:_MOST_WRONG]],
                one.paper,
            )


def digest(text: str) -> str:
    """Return what stands for a sentence of a source in written/."""
    return hashlib.sha256(bare(text).encode()).hexdigest()[:_DIGEST]


def written(name: str, key: str, opened: dict[str, OpenDocument]) -> Iterator[dict[str, Any]]:
    """Yield what was written, sentences for their digests; a row that misses one is left out."""
    texts = {
        paper: {digest(each.text): each.text for each in document.sentences}
        for paper, document in opened.items()
    }
    rows = _rows(WRITTEN / f"{name}.jsonl")
    found = [row for row in rows if all(one in texts[row["paper"]] for one in row[key])]
    print(f"written/{name}.jsonl: {len(found)} of {len(rows)} rows found in their sources")
    for row in found:
        yield row | {key: [texts[row["paper"]][one] for one in row[key]]}


def retrieval(dice: random.Random) -> Iterator[Example]:
    """Yield questions with a passage that is marked and with one of the same set that is not."""
    from rapidfuzz import fuzz, process

    for name, (most, _) in RETRIEVAL.items():
        folder = shared_data() / "retrieval" / "beir" / name
        corpus = {
            row["_id"]: f"{row['title']} {row['text']}" for row in _rows(folder / "corpus.jsonl")
        }
        asked = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
        marked = defaultdict(set)
        for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            query, document, _ = line.split("\t")
            marked[query].add(document)
        names = list(corpus)
        for query in dice.sample(sorted(marked), min(most, len(marked))):
            for document in sorted(marked[query])[:2]:
                yield Example(asked[query], corpus[document], RELEVANT, name, f"{name} {query}")
            pool = [
                key for key in dice.sample(names, min(40, len(names))) if key not in marked[query]
            ]
            texts = [corpus[key] for key in pool]
            found = process.extractOne(asked[query], texts, scorer=fuzz.token_set_ratio)
            yield Example(asked[query], found[0], IRRELEVANT, name, f"{name} {query}")


def main() -> None:
    """Write the examples, the encoder and the card."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--cache", type=Path, default=CACHE, help="where parses are kept")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    data = shared_data()
    drafted = [
        row
        for name in ("train", "train_2")
        for row in _rows(data / "claims" / "drafts" / f"{name}.jsonl")
    ]
    asked = _rows(data / "questions" / "train.jsonl")
    files = [WRITTEN / f"{name}.jsonl" for name in ("sentences", "questions")]
    every = [*drafted, *asked, *(row for file in files for row in _rows(file))]
    opened = _opened([row["paper"] for row in every], given.cache)
    drafted += written("sentences", "evidence", opened)
    asked += written("questions", "answers", opened)
    mined = mine(asked, opened, dice)
    examples = [
        *entailment(dice),
        *drafts(drafted, opened, dice),
        *copies(opened, dice),
        *questions(mined, opened, dice),
        *retrieval(dice),
    ]
    answerable = list(asked_of(mined, opened))
    texts = sorted(
        {text for one in answerable for text in (one.question, *one.answers, *one.wrong)}
    )
    ids = [
        [*one[: _MOST_TOKENS - 1], one[-1]]
        for one in read_e5(ModelSettings(kind="bundled", model=E5)).token_ids(texts)
    ]
    pairs = pair_ids([(each.one, each.other) for each in examples])
    kept = [place for place, ids_of in enumerate(pairs) if len(ids_of) <= _MOST_OF_PAIR]
    examples, pairs = [examples[place] for place in kept], [pairs[place] for place in kept]
    words = distinct_words(pairs, ids)
    given.out.mkdir(parents=True, exist_ok=True)
    write_examples(given.out / "examples.npz", examples, pairs, words, given.seed)
    write_questions(given.out / "questions.npz", answerable, texts, ids, words)
    write_encoder(given.out / "encoder.npz", words)
    counted = Counter((example.origin, example.label) for example in examples)
    licences = {name: licence for name, (_, licence) in (ENTAILMENT | RETRIEVAL).items()}
    card = [
        {
            "set": origin,
            "label": label,
            "examples": count,
            "licence": licences.get(origin, "CC0-1.0"),
        }
        for (origin, label), count in sorted(counted.items())
    ]
    (given.out / "card.json").write_text(json.dumps(card, indent=1), encoding="utf-8")
    print(f"{len(examples)} examples of {len(licences) + 3} sets, {len(words)} distinct tokens")


if __name__ == "__main__":
    main()
