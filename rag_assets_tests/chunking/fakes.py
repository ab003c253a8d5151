"""Tokenizers and documents made for tests."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from hypothesis import strategies as st

from rag_assets.model import Block, BlockKind, PageSpan, ParsedDocument
from rag_assets.model.settings import ChunkSettings
from rag_assets.parsing.sections import make_sections


class LetterTokenizer:
    """Every run of letters a token, every other visible character too."""

    fingerprint = "letters"

    def __init__(self, limit: int = 10_000) -> None:
        self.limit = limit

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(self.token_spans(text)) for text in texts]

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


class GreetingTokenizer(LetterTokenizer):
    """Five tokens more for every text than its parts have: a part counts more than in the whole."""

    fingerprint = "greeting"

    def count(self, texts: Sequence[str]) -> list[int]:
        return [tokens + 5 for tokens in super().count(texts)]


def chunk_settings(**changes: Any) -> ChunkSettings:
    settings = {
        "mode": "parent_child",
        "target_tokens": 20,
        "min_tokens": 8,
        "max_tokens": 30,
        "overlap": 0.0,
        "parents": "page",
        "parent_tokens": 60,
        "context": "none",
        "preprocess": [],
        "general": {"delimiter": "\n\n", "max_tokens": 30, "overlap": 0.0},
        "law": {"soft_limit": 400, "search_unit": "article", "fallback": [100, 200]},
    }
    return ChunkSettings.model_validate({**settings, **changes})


def pages_of(*texts: str) -> ParsedDocument:
    """A document of these pages, each text as it stands."""
    spans, at = [], 0
    for number, text in enumerate(texts, start=1):
        spans.append(PageSpan(number, at, at + len(text)))
        at += len(text)
    return ParsedDocument("".join(texts), "application/pdf", pages=tuple(spans))


def blocks_of(*parts: tuple[str, int | None] | str, separator: str = "\n\n") -> ParsedDocument:
    """A document of paragraphs and, as (title, level), headings."""
    texts, blocks, at = [], [], 0
    for part in parts:
        text, level = part if isinstance(part, tuple) else (part, None)
        kind = "paragraph" if level is None else "heading"
        blocks.append(Block(kind, at, at + len(text), level=level))
        texts.append(text)
        at += len(text) + len(separator)
    return with_sections(
        ParsedDocument(separator.join(texts), "text/markdown", blocks=tuple(blocks))
    )


def with_sections(document: ParsedDocument) -> ParsedDocument:
    """The document as `finish_document` returns it."""
    sections = make_sections(document.text, document.blocks, document.abstract)
    return replace(document, sections=sections)


_PIECES = st.sampled_from(
    [
        *("Light increases the yield", "Fig. 3", "et al.", "p < .05", "a", "supercalifragilistic"),
        *(".", "?", "…", "; ", ", ", "(", "”", " ", " ", "\n", "\n\n", "\t", "\r\n", "\u3000"),
        *(
            "光合作用提高产量",
            "。",
            "；",
            "！」",
            "{#uid}",
            "[@key]",
            "- item\n",
            "# Title\n",
            "| a | b |\n",
        ),
        *(
            "👩‍👩‍👧",
            "e\u0301\u0302",
            "مرحبا بالعالم",
            "\u200b",
            "\x1c",
            "\u2029",
            "name: x\n",
            "𝔘𝔫𝔦",
        ),
        "x" * 90,
    ]
)
any_texts = st.one_of(st.lists(_PIECES, max_size=60).map("".join), st.text(max_size=200))


@st.composite
def any_documents(draw: st.DrawFn) -> ParsedDocument:
    """Any text, with pages or without, cut into blocks of any kind at any place."""
    text = draw(any_texts)
    pages = tuple(PageSpan(number, *span) for number, span in enumerate(draw(_cuts(text)), start=1))
    blocks = tuple(
        Block(draw(_KINDS), start, end, level=draw(st.integers(1, 3)))
        for start, end in draw(_cuts(text))
        if start < end
    )
    is_paged = draw(st.booleans())
    media_type = "application/pdf" if is_paged else "text/markdown"
    found = ParsedDocument(text, media_type, pages=pages if is_paged else (), blocks=blocks)
    return with_sections(found)


_KINDS = st.sampled_from(get_args(BlockKind))


@st.composite
def _cuts(draw: st.DrawFn, text: str) -> list[tuple[int, int]]:
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return list(zip([0, *cuts], [*cuts, len(text)], strict=True))


def assert_covered_once(text: str, spans: Sequence[tuple[int, int]]) -> None:
    """Every visible character lies in exactly one span; spans begin and end visibly."""
    behind = 0
    for start, end in spans:
        assert behind <= start < end
        assert not text[behind:start].strip()
        assert text[start:end] == text[start:end].strip()
        behind = end
    assert not text[behind:].strip()
