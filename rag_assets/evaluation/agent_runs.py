"""One run of the agent over a question: what it looked at, in which order, and what it cites."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.agents import Passage
from rag_assets.answering import Answer, PaperQuestion, answer_papers
from rag_assets.parsing import read_parsed

if TYPE_CHECKING:
    from rag_assets.agents.trace import Limits
    from rag_assets.judging import Scorer
    from rag_assets.llm import ChatModel
    from rag_assets.retrieval import Retriever

# Of reciprocal rank fusion, as searches have it.
_RRF_K = 60


@dataclass(frozen=True, slots=True)
class Citations:
    """What the citations of one answer are worth, looked up and not judged.

    Args:
        made: quotes of the sentences that are kept.
        standing: those whose words stand at the cited place of the parsed document.
        gold: those whose place is annotated as evidence.
        dropped: sentences that were not kept.
    """

    made: int
    standing: int
    gold: int
    dropped: int


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What came of one question.

    Args:
        passages: that were found, the likeliest first.
        steps: actions, `finish` among them; `searches` of passages or abstracts.
        seconds: from the question to the answer; `processor_seconds` of this process.
    """

    answer: Answer
    passages: tuple[Passage, ...]
    steps: int
    searches: int
    seconds: float
    processor_seconds: float


@dataclass(frozen=True, slots=True)
class Asker:
    """Who answers: rules, or a language model."""

    retriever: "Retriever"
    limits: "Limits"
    model: "ChatModel | None"
    scorer: "Scorer"

    def run(self, asked: PaperQuestion) -> AgentRun:
        """Return what comes of a question."""
        started, used = time.perf_counter(), time.process_time()
        answer = answer_papers(
            self.retriever, asked, self.limits, model=self.model, scorer=self.scorer,
            clock=time.perf_counter,
        )  # fmt: skip
        seconds, used = time.perf_counter() - started, time.process_time() - used
        steps = [step for step in answer.trace.steps if step.action is not None]
        searches = sum((step.action or "").startswith("search") for step in steps)
        return AgentRun(answer, fuse_passages(answer), len(steps), searches, seconds, used)

    def check(self, answer: Answer, is_gold: Callable[[str, int, int], bool]) -> Citations:
        """Return what the citations of an answer are worth.

        Args:
            is_gold: whether a place, [start, end) of a document by uid, is annotated as evidence.
        """
        quotes = [one.quote for one in answer.statements if one.quote is not None]
        readers = {reader.namespace: reader for reader in self.retriever.readers}
        texts: dict[tuple[str, str], str] = {}
        standing = 0
        for quote in quotes:
            key = quote.namespace, quote.doc_uid
            if key not in texts:
                (row,) = readers[key[0]].fetch_documents([key[1]]).to_pylist()
                parse = self.retriever.workspace.root / "data" / row["content_ref"]
                texts[key] = read_parsed(parse)[0].text
            standing += texts[key][quote.char_start : quote.char_end] == quote.text
        gold = sum(is_gold(quote.doc_uid, quote.char_start, quote.char_end) for quote in quotes)
        return Citations(len(quotes), standing, gold, len(answer.unsupported))


def fuse_passages(answer: Answer) -> tuple[Passage, ...]:
    """Return the passages that a run found, by reciprocal ranks over its searches.

    What abstracts were looked at for finding papers stands last: they were no answers.
    """
    found = answer.trace.passages
    score: dict[str, float] = dict.fromkeys(found, 0.0)
    for step in answer.trace.steps:
        if step.observation is None or step.action == "search_abstracts":
            continue
        aliases = [line.alias for line in step.observation.lines if line.alias is not None]
        for rank, alias in enumerate(aliases, start=1):
            score[alias] += 1 / (_RRF_K + rank)
    return tuple(found[alias] for alias in sorted(found, key=lambda one: -score[one]))
