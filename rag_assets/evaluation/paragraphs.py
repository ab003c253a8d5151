"""The paragraphs of a paper, ranked by the passages that were found of it."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from rag_assets.evaluation.cuts import Span
from rag_assets.evaluation.paper_rows import PaperQuestion, WrittenPaper
from rag_assets.evaluation.retrieval_metrics import ndcg_at, recall_at, reciprocal_rank_at
from rag_assets.publishing.content_words import content_stems


class Placed(Protocol):
    """What stands somewhere in a document's clean text."""

    @property
    def char_start(self) -> int:
        """Where it begins; half-open."""
        ...

    @property
    def char_end(self) -> int:
        """Where it ends."""
        ...


def rank_paragraphs(
    hits: Iterable[Placed], paragraphs: Sequence[Span], question: str, text: str
) -> list[int]:
    """Return paragraphs by their best chunk, best first: numbers in order of the document.

    Of the paragraphs that one chunk holds the one that shares most words with the question comes
    first, as an evidence pack chooses the sentence of a chunk that it quotes; then the one of
    which the chunk holds most.

    Args:
        hits: chunks of the paragraphs' document, best first.
        paragraphs: spans in the document's clean text.
        text: the document's clean text.
    """
    asked = content_stems(question)
    ranking: dict[int, None] = {}
    for hit in hits:
        held = []
        for number, (start, end) in enumerate(paragraphs):
            first, last = max(start, hit.char_start), min(end, hit.char_end)
            if first < last:
                shared = len(asked & content_stems(text[first:last]))
                held.append((-shared, first - last, number))
        ranking.update((number, None) for _, _, number in sorted(held))
    return list(ranking)


def score_paragraphs(
    written: WrittenPaper, question: PaperQuestion, hits: Iterable[Placed]
) -> dict[str, float]:
    """Return nDCG@10, R@5 and MRR@10 of a search; equal paragraphs are one, at the first place.

    Args:
        hits: passages of the paper, best first.
    """
    texts = [written.text[start:end] for start, end in written.paragraphs]
    found = rank_paragraphs(hits, written.paragraphs, question.question, written.text)
    ranking = list(dict.fromkeys(texts[number] for number in found))
    relevance = dict.fromkeys(question.evidence, 1.0)
    return {
        "ndcg_at_10": ndcg_at(ranking, relevance, 10),
        "recall_at_5": recall_at(ranking, relevance, 5),
        "mrr_at_10": reciprocal_rank_at(ranking, relevance, 10),
    }
