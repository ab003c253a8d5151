"""How surely a question that means one paper of a library leads to it, and to nothing else.

    python -m benchmarks.paper_routes WORKSPACE [--sections FOLDER] [--seed N] [--show]

WORKSPACE holds papers, published. Questions are made by a generator, from each paper's identifiers,
from its title and from its abstract; where `--sections` (*.headings.jsonl) has a title or abstract
that no PDF parser made, from that one. A question from an abstract holds half of the words of one
of its sentences and no name. Papers of which two files hold the same text are left out.

Printed by kind of question: how many name the right paper, a wrong one, none; and of what track A
returned, how many passages are of another paper. Every second paper is `dev`, on which the margins
of `locating` were fitted; the others are `test`.
"""

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.model import is_chinese
from rag_assets.parsing import named_thing
from rag_assets.publishing.content_words import content_tokens
from rag_assets.retrieval import Retriever
from rag_assets.retrieval.papers import search_papers
from rag_assets.workspace import Workspace

_ASKED = ("what does it conclude?", "which methods are used?", "what are the results?")
_ASKED_CHINESE = ("得出了什么结论？", "用了什么方法？", "结果如何？")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*")
_FEWEST_WORDS = 8


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question that means one paper."""

    kind: str
    doc_uid: str
    question: str


def make_items(row: dict[str, Any], truth: dict[str, Any], seed: int) -> Iterator[KnownItem]:
    """Yield the questions about one paper.

    Args:
        row: of the catalogue.
        truth: title and abstract from a source that is no PDF, where there is one.
        seed: of the choice of words; the same seed gives the same questions.
    """
    uid, title = row["doc_uid"], truth.get("title") or row["title"]
    drawn = random.Random(f"{seed} {uid}")
    asked = drawn.choice(_ASKED)
    chinese = drawn.choice(_ASKED_CHINESE)
    yield KnownItem("uid", uid, f"In {{#{uid}}}, {asked}")
    if row["citation_key"]:
        yield KnownItem("key", uid, f"In @{row['citation_key']}, {asked}")
    if row["doi"]:
        yield KnownItem("doi", uid, f"Of the paper {row['doi']}: {asked}")
    authors = [name for name in row["authors"] or () if not is_chinese(name)]
    if authors and row["year"]:
        surname = max(authors[0].split(), key=len)
        yield KnownItem("authors", uid, f"{surname} et al. ({row['year']}): {asked}")
    if title:
        if is_chinese(title):
            yield KnownItem("title quoted", uid, f"《{title}》{chinese}")
            yield KnownItem("title unmarked", uid, f"{title}这篇论文{chinese}")
        else:
            yield KnownItem("title quoted", uid, f"In “{title}”, {asked}")
            yield KnownItem("title lower case", uid, f"In the paper {title.lower()}, {asked}")
            words = title.split()
            if len(words) >= 6:
                part = " ".join(words[: max(4, len(words) * 2 // 3)])
                yield KnownItem("title begun", uid, f"In the paper “{part}”, {asked}")
        thing = named_thing(title)
        if thing:
            yield KnownItem("thing", uid, f"What does {thing} do, and how?")
    abstract = truth.get("abstract") or row["abstract"]
    if abstract:
        about = _half_of_a_sentence(abstract, drawn)
        if about and is_chinese(about):
            yield KnownItem("abstract", uid, f"那篇关于{about}的论文{chinese}")
        elif about:
            yield KnownItem("abstract", uid, f"In the paper about {about}: {asked}")


def _half_of_a_sentence(text: str, drawn: random.Random) -> str | None:
    sentences = _SENTENCE.split(" ".join(text.split()))
    many = [one for one in sentences if len(list(content_tokens(one))) >= _FEWEST_WORDS]
    if not many:
        return None
    words = [token for kind, token in content_tokens(drawn.choice(many)) if kind != "number"]
    kept = sorted(drawn.sample(range(len(words)), max(4, len(words) // 2)))
    return " ".join(words[place] for place in kept)


def read_truth(folder: Path | None) -> dict[str, dict[str, Any]]:
    """Return titles and abstracts by file stem."""
    if folder is None:
        return {}
    rows = (
        json.loads(line)
        for file in sorted(folder.glob("*.headings.jsonl"))
        for line in file.read_text("utf-8").splitlines()
    )
    return {Path(row["pdf"]).stem: row for row in rows}


def measure(workspace: Path, truth: dict[str, dict[str, Any]], seed: int, *, shows: bool) -> None:
    """Print the figures."""
    counted: dict[str, dict[str, Counter[str]]] = {"dev": {}, "test": {}}
    strangers = passages = questions = 0
    began = time.process_time()
    with Retriever(Workspace.find(workspace)) as retriever:
        rows = [row for reader in retriever.readers for row in reader.documents().to_pylist()]
        rows = [row for row in rows if not row["same_text_as"]]
        for number, row in enumerate(rows):
            part = "test" if number % 2 else "dev"
            stem = Path(row["source_uri"]).stem
            for item in make_items(row, truth.get(stem, {}), seed):
                found = search_papers(retriever, item.question, 5)
                outcome = _outcome(found.routed.track, found.routed.papers, item)
                counted[part].setdefault(item.kind, Counter())[outcome] += 1
                questions += 1
                if found.routed.track == "paper":
                    passages += len(found.hits)
                    strangers += sum(
                        hit.doc_uid != found.routed.papers[0].doc_uid for hit in found.hits
                    )
                if shows and outcome != "right":
                    named = [paper.doc_uid for paper in found.routed.papers[:2]]
                    print(f"{part} {item.kind}: {item.question}\n   {item.doc_uid}: {outcome} "
                          f"{found.routed.route.origin} {named} {found.told}")  # fmt: skip
    seconds = time.process_time() - began
    print(f"{len(rows)} papers, {questions} questions, {seconds:.0f} processor seconds")
    print("| part | kind | right | wrong | undecided | topic | share right |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for part, kinds in counted.items():
        kinds["all"] = sum(kinds.values(), Counter())
        for kind, got in kinds.items():
            share = got["right"] / got.total()
            print(f"| {part} | {kind} | {got['right']} | {got['wrong']} | {got['undecided']} | "
                  f"{got['topic']} | {share:.3f} |")  # fmt: skip
    print(f"track A: {strangers} of {passages} passages are of another paper than the one named")


def _outcome(track: str, papers: Any, item: KnownItem) -> str:
    if track != "paper":
        return track
    return "right" if papers[0].doc_uid == item.doc_uid else "wrong"


def main() -> None:
    """Measure a workspace."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--sections", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="Print the questions that fail.")
    given = parser.parse_args()
    measure(given.workspace, read_truth(given.sections), given.seed, shows=given.show)


if __name__ == "__main__":
    main()
