"""The strong assertions of a draft that cite nothing, and what may speak for them all the same."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rag_assets.auditing.claims.wording import Wording, read_wording
from rag_assets.auditing.drafts.anchors import Citation
from rag_assets.auditing.drafts.draft import Draft, DraftSentence


@dataclass(frozen=True, slots=True)
class Assertion:
    """A strong assertion that cites nothing itself.

    Args:
        section: the heading above it.
        citations: those at the end of its paragraph, which may be meant for it too.
    """

    sentence: DraftSentence
    wording: Wording
    section: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class DraftClaims:
    """What a draft asserts.

    Args:
        assertions: that cite nothing.
        cited: how many cite something, in the sentence or in a footnote of it.
        read: the wordings of all its sentences but headings.
    """

    assertions: tuple[Assertion, ...]
    cited: int
    read: tuple[Wording, ...]


def find_claims(draft: Draft) -> DraftClaims:
    """Return the strong assertions of a draft, in order.

    A sentence without citations of its own may be covered by those at the end of its paragraph,
    where no other cited sentence stands between: in scholarly prose a citation there speaks for
    what leads up to it. Whether it does is judged like any other.
    """
    assertions: list[Assertion] = []
    read: list[Wording] = []
    section, cited = "", 0
    for _, group in groupby(draft.all_sentences, key=lambda sentence: sentence.block):
        sentences = list(group)
        if sentences[0].kind == "heading":
            section = " ".join(sentence.claim for sentence in sentences)
            continue
        if sentences[0].is_listed:
            continue
        covering = _covering(sentences)
        for number, sentence in enumerate(sentences):
            if not sentence.claim:
                continue
            wording = read_wording(sentence.claim)
            read.append(wording)
            if not wording.is_strong or _is_head_of_table(sentence, draft):
                continue
            if sentence.citations or sentence.noted:
                cited += 1
                continue
            assertions.append(Assertion(sentence, wording, section, covering.get(number, ())))
    return DraftClaims(tuple(assertions), cited, tuple(read))


def _covering(sentences: Sequence[DraftSentence]) -> dict[int, tuple[Citation, ...]]:
    """Return the citations at the end of a paragraph for those before it without any."""
    last = sentences[-1]
    if last.kind != "paragraph" or not last.citations:
        return {}
    # A citation in the midst of the last sentence speaks for its words alone.
    final = tuple(
        replace(citation, claim="")
        for citation in last.citations
        if not _has_words_behind(last, citation)
    )
    covered: dict[int, tuple[Citation, ...]] = {}
    for number in range(len(sentences) - 2, -1, -1):
        if sentences[number].citations or sentences[number].noted:
            break
        covered[number] = final
    return covered


def _has_words_behind(sentence: DraftSentence, citation: Citation) -> bool:
    if not sentence.start <= citation.start < sentence.end:
        return False
    behind = {other.end for other in sentence.citations if other.start > citation.start}
    tail = sentence.end - max(citation.end, *behind, citation.end)
    # Closing brace and bracket, full stop, closing quotation mark.
    return tail > len("}]). ”")


def _is_head_of_table(sentence: DraftSentence, draft: Draft) -> bool:
    if sentence.kind != "row":
        return False
    before = [s for s in draft.all_sentences if s.block == sentence.block - 1]
    return not before or before[0].kind != "row"
