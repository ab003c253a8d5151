"""What a language model is given of papers: background once a paper, then what was found in it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.model import SectionCategory, UsageError
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.papers.introductions import (
    INTRODUCTION_TOKENS,
    Introduction,
    introduction,
)
from rag_assets.retrieval.papers.library import Paper, paper_of
from rag_assets.retrieval.retriever import Retriever
from rag_assets.retrieval.windows import Window, expand_windows

_NAMES = {"": "", "introduction": "Introduction", "abstract": "Abstract", "beginning": "Beginning"}


@dataclass(frozen=True, slots=True)
class PaperBlock:
    """One paper of a prompt.

    Args:
        introduction: None where it is not wanted.
        evidence: what was found, with its neighbours, best first.
    """

    paper: Paper
    introduction: Introduction | None
    evidence: tuple[Window, ...]


def assemble_papers(
    retriever: Retriever,
    hits: Sequence[Hit],
    *,
    window: int = 1,
    introduction_tokens: int = INTRODUCTION_TOKENS,
) -> tuple[PaperBlock, ...]:
    """Return what was found by paper, with neighbours and background.

    Each paper stands once, in the order of its best hit, with its introduction once; hits whose
    windows touch are one passage.

    Args:
        retriever: that found the hits, still entered.
        hits: best first.
        window: passages to each side of a hit, from 0.
        introduction_tokens: of the background at most; 0 for none.

    Raises:
        UsageError: a size below 0, or a hit of a namespace that is not asked.
    """
    if introduction_tokens < 0:
        raise UsageError(f"'introduction_tokens' must be at least 0, got {introduction_tokens}.")
    blocks: dict[tuple[str, str], list[Window]] = {}
    for found in expand_windows(retriever.readers, hits, window):
        blocks.setdefault((found.namespace, found.doc_uid), []).append(found)
    return tuple(
        PaperBlock(
            paper_of(windows[0].found[0]),
            introduction(retriever, uid, introduction_tokens, namespace=namespace)
            if introduction_tokens
            else None,
            tuple(windows),
        )
        for (namespace, uid), windows in blocks.items()
    )


def render_papers(blocks: Sequence[PaperBlock], aliases: Mapping[str, str] | None = None) -> str:
    """Return the layout of spec 002 §3.3.3.

        [Paper: Attention Is All You Need]
        > Context (Introduction): …
        > Retrieved Evidence (Method): [C1] …

    Further lines of a passage are indented, so that no text of a paper looks like a line of the
    layout.

    Args:
        blocks: of `assemble_papers`.
        aliases: by `chunk_key` of a hit, what an answer cites it by; stands before the passage.
    """
    known = aliases or {}
    return "\n\n".join(
        "\n".join(_lines(block, lambda hit: known.get(hit.chunk_key))) for block in blocks
    )


def _lines(block: PaperBlock, alias: Callable[[Hit], str | None]) -> list[str]:
    lines = [f"[Paper: {' '.join(block.paper.title.split())}]"]
    if block.introduction is not None and block.introduction.text:
        more = " …" if block.introduction.is_cut else ""
        name = _NAMES[block.introduction.section]
        lines.append(f"> Context ({name}): {_indented(block.introduction.text)}{more}")
    for window in block.evidence:
        named = "".join(f"[{one}] " for hit in window.found if (one := alias(hit)))
        lines.append(
            f"> Retrieved Evidence ({_section(window.found[0])}): {named}{_indented(window.text)}"
        )
    return lines


def _section(hit: Hit) -> str:
    category = SectionCategory.OTHER if hit.section_category is None else hit.section_category
    return SectionCategory(category).name.replace("_", " ").title()


def _indented(text: str) -> str:
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return "\n  ".join(line for line in lines if line)
