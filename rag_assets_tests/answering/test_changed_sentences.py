"""Any sentence of the sample papers with one word or digit changed is none of theirs."""

import random
import re
from collections.abc import Iterator

import pytest

from rag_assets.answering import answer_scorer
from rag_assets.answering.agents import Passage, ScorerJudge, check_statements
from rag_assets.answering.tools import passage_of
from rag_assets.chunking import split_sentences
from rag_assets.judging.statement import state
from rag_assets.model import HAN_RANGES
from rag_assets.retrieval import Retriever
from rag_assets.workspace import shipped_settings

UNIT = re.compile(rf"[{HAN_RANGES}]|[^\s{HAN_RANGES}]+")
FEWEST = 6


@pytest.fixture(scope="module")
def passages(retriever: Retriever) -> dict[str, Passage]:
    (reader,) = retriever.readers
    uids = reader.documents().column("doc_uid").to_pylist()
    ids = [
        key
        for uid in uids
        for key in reader.fetch_chunks(uid, ["chunk_id"])["chunk_id"].to_pylist()
    ]
    hits = [hit for hit in reader.fetch_hits(ids).values() if hit.citable and hit.kind == "text"]
    return {f"C{place}": passage_of(hit) for place, hit in enumerate(hits, start=1)}


def changed(sentence: str, chance: random.Random) -> Iterator[str]:
    """Yield the sentence with a digit replaced, with a word left out, with two exchanged."""
    digits = [found.start() for found in re.finditer(r"\d", sentence)]
    if digits:
        place = chance.choice(digits)
        other = chance.choice([digit for digit in "0123456789" if digit != sentence[place]])
        yield sentence[:place] + other + sentence[place + 1 :]
    units = list(UNIT.finditer(sentence))
    words = [unit for unit in units if re.search(r"\w", unit[0])]
    left_out = chance.choice(words)
    yield sentence[: left_out.start()] + sentence[left_out.end() :]
    one, two = sorted(chance.sample(words, 2), key=lambda found: found.start())
    if one[0] != two[0]:
        yield (
            sentence[: one.start()] + two[0] + sentence[one.end() : two.start()] + one[0]
            + sentence[two.end() :]
        )  # fmt: skip


def plain(text: str) -> str:
    return "".join(UNIT.findall(state(" ".join(text.split())))).casefold().strip(".,;，。；")


def test_no_changed_sentence_is_kept_and_every_unchanged_one_is(
    passages: dict[str, Passage],
) -> None:
    chance = random.Random(7)
    said: list[tuple[str, str, bool]] = []
    for alias, passage in list(passages.items())[::2]:
        spans = split_sentences(passage.text)[1:-1]  # whole ones: the others may go on elsewhere
        for start, end in spans:
            sentence = " ".join(passage.text[start:end].split())
            if len(UNIT.findall(sentence)) < FEWEST:
                continue
            said.append((sentence, alias, True))
            said += [
                (other, alias, False)
                for other in changed(sentence, chance)
                if plain(other) != plain(sentence)
            ]
    # A line is a statement: marks inside of it would divide some otherwise.
    judge = ScorerJudge(answer_scorer(shipped_settings()))
    answer = "\n".join(f"{text} [{alias}]" for text, alias, _ in said)
    checked = check_statements(answer, passages, judge, by_line=True)
    kept = {one.number for one in checked if one.is_supported}
    wrong = [said[n - 1] for n in kept if not said[n - 1][2]]
    lost = [said[n] for n in range(len(said)) if said[n][2] and n + 1 not in kept]
    assert len(said) > 150
    assert wrong == []
    assert lost == []
