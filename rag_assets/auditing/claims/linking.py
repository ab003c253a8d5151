"""Which citations of a draft belong to which of its assertions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rag_assets.auditing.claims.causal_model import CausalReader
from rag_assets.auditing.claims.record import Linkage
from rag_assets.auditing.claims.wording import Wording, read_wording
from rag_assets.auditing.drafts.anchors import Citation
from rag_assets.auditing.drafts.draft import CitedSentence, Draft, DraftSentence


@dataclass(frozen=True, slots=True)
class Assertion:
    """A strong assertion of a draft, with the citations that may support it.

    Args:
        section: the heading above it.
        citations: each with how it belongs to the sentence; those of the sentence itself, else
            those of its paragraph.
    """

    sentence: DraftSentence
    wording: Wording
    section: str
    citations: tuple[tuple[Linkage, Citation], ...]


@dataclass(frozen=True, slots=True)
class DraftClaims:
    """What a draft asserts. `read` are the wordings of all its sentences but headings."""

    assertions: tuple[Assertion, ...]
    read: tuple[Wording, ...]


def find_claims(draft: Draft, causes: CausalReader | None = None) -> DraftClaims:
    """Return the strong assertions of a draft, in order; `causes` as `read_wording` takes it.

    A sentence without citations of its own is taken to be covered by those at the end of its
    paragraph, where no other cited sentence stands between: in scholarly prose a citation there
    speaks for what leads up to it. Whether it does is judged like any other.
    """
    causes = causes or CausalReader()
    assertions: list[Assertion] = []
    read: list[Wording] = []
    section = ""
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
            wording = read_wording(sentence.claim, causes)
            read.append(wording)
            if wording.is_strong and not _is_head_of_table(sentence, draft):
                citations = tuple(_own(sentence)) or tuple(
                    ("paragraph", citation) for citation in covering.get(number, ())
                )
                assertions.append(Assertion(sentence, wording, section, citations))
    return DraftClaims(tuple(assertions), tuple(read))


def _own(sentence: DraftSentence) -> Iterator[tuple[Linkage, Citation]]:
    for citation in sentence.citations:
        inside = sentence.start <= citation.start < sentence.end
        yield ("sentence" if inside else "footnote"), citation
    for citation in sentence.noted:
        yield "footnote", replace(citation, claim="")


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
    return covered if final else {}


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


def cited_sentences(draft: Draft, assertions: Sequence[Assertion]) -> tuple[CitedSentence, ...]:
    """Return all that is to be judged: the cited sentences of a draft, and its assertions that a
    footnote or the end of their paragraph supports.
    """
    added = [
        CitedSentence(
            0, assertion.sentence.line, assertion.sentence.start, assertion.sentence.end,
            assertion.sentence.text, assertion.sentence.claim, extra,
        )
        for assertion in assertions
        if (extra := _not_in_sentence(assertion))
    ]  # fmt: skip
    every = sorted([*draft.sentences, *added], key=lambda sentence: sentence.start)
    return tuple(replace(sentence, index=number) for number, sentence in enumerate(every))


def _not_in_sentence(assertion: Assertion) -> tuple[Citation, ...]:
    own = set(assertion.sentence.citations)
    return tuple(citation for _, citation in assertion.citations if citation not in own)
