"""Tokenizers and documents made for tests."""

import re
from collections.abc import Sequence

from hypothesis import strategies as st

from rag_assets.model import Block, PageSpan, ParsedDocument
from rag_assets.workspace.settings import ChunkSettings


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


def chunk_settings(**changes: float) -> ChunkSettings:
    sizes = {
        "target_tokens": 20,
        "min_tokens": 8,
        "max_tokens": 30,
        "overlap": 0.0,
        "parent_tokens": 60,
    }
    return ChunkSettings.model_validate({**sizes, **changes})


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
    return ParsedDocument(separator.join(texts), "text/markdown", blocks=tuple(blocks))


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
    text = draw(any_texts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=5)))
    bounds = list(zip([0, *cuts], [*cuts, len(text)], strict=True))
    if draw(st.booleans()):
        pages = tuple(PageSpan(number, *span) for number, span in enumerate(bounds, start=1))
        return ParsedDocument(text, "application/pdf", pages=pages)
    kinds = st.sampled_from(["heading", "paragraph", "row", "list"])
    blocks = tuple(
        Block(draw(kinds), start, end, level=draw(st.integers(1, 3)))
        for start, end in bounds
        if start < end
    )
    return ParsedDocument(text, "text/markdown", blocks=blocks)


def assert_covered_once(text: str, spans: Sequence[tuple[int, int]]) -> None:
    """Every visible character lies in exactly one span; spans begin and end visibly."""
    behind = 0
    for start, end in spans:
        assert behind <= start < end
        assert not text[behind:start].strip()
        assert text[start:end] == text[start:end].strip()
        behind = end
    assert not text[behind:].strip()
