"""Found passages as the context of a language model: short aliases, document order, a limit."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from rag_assets.knowledge.config import InjectConfig, inject_settings, part_of
from rag_assets.knowledge.passages import KnowledgeChunk
from rag_assets.model import UsageError
from rag_assets.model.settings import InjectSettings
from rag_assets.workspace import shipped_settings

if TYPE_CHECKING:
    from rag_assets.retrieval import Hit

# What would look like the head of another passage.
_ALIAS_LIKE = re.compile(r"(?m)^([ \t]*)(?=\[C\d+\])")


@dataclass(frozen=True, slots=True)
class ContextPassage:
    """One passage of a context.

    Args:
        alias: `C1`, `C2` …, in the order in which they stand.
        citation_ids: of the chunks that led to it, best first.
        place: page or characters, as it is shown.
        tokens: of the passage as it is shown.
        is_cut: its end was left out, since it alone is over `max_tokens`.
    """

    alias: str
    namespace: str
    document_id: str
    title: str
    section: str
    place: str
    text: str
    citation_ids: tuple[str, ...]
    tokens: int = 0
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class KnowledgeContext:
    """What a language model is given; `str(context)` is the text.

    Args:
        aliases: alias → canonical citation id of the passage's best chunk.
        tokens: of all passages, by the tokenizers of their namespaces.
        left_out: citation ids of passages that had no room.
    """

    text: str
    aliases: Mapping[str, str]
    passages: tuple[ContextPassage, ...]
    tokens: int
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class _Extract:
    """A passage before it has an alias: text with its span, and the chunks that led to it."""

    chunks: tuple[KnowledgeChunk, ...]
    text: str
    char_start: int
    char_end: int
    page_start: int | None
    page_end: int | None
    section_path: tuple[str, ...]
    page_labels: tuple[str, ...] = ()


class ContextBuilder:
    """Formats found chunks (spec 001)."""

    @staticmethod
    def build_knowledge_context(
        *,
        chunks: Sequence[KnowledgeChunk],
        inject: InjectSettings | InjectConfig | Mapping[str, Any] | None = None,
    ) -> KnowledgeContext:
        """Return the passages in document order, as many of the best as there is room for.

        Documents stand in the order of their best chunk, passages of one document in its own
        order. A passage that no longer fits is left out and named, and the next one tried; where
        not even the best fits it is cut.

        Args:
            chunks: of a result, best first.
            inject: what is shown around a chunk, tokens and passages at most, the format;
                without it the shipped settings.

        Raises:
            ConfigurationError: `inject` names what is not allowed.
            UsageError: mode `window` of chunks that were retrieved without windows, or what is
                given are no chunks: hits are pairs of a chunk and its score.
        """
        wrong = next((one for one in chunks if not isinstance(one, KnowledgeChunk)), None)
        if wrong is not None:
            raise UsageError(
                f"'chunks' holds {type(wrong).__name__}, not chunks: pass "
                "[chunk for chunk, _ in result.hits]."
            )
        if isinstance(inject, InjectSettings):
            settings = inject
        else:
            shipped = shipped_settings().retrieve.inject
            settings = inject_settings(shipped, part_of(InjectConfig, inject, "inject"))
        extracts = _extracts(chunks, settings.mode)
        kept: list[tuple[_Extract, ContextPassage]] = []
        left_out: list[str] = []
        room = settings.max_tokens - _frame_tokens(chunks, settings.format)
        for extract in extracts:
            passage = _fitting(extract, settings, room, may_cut=not kept)
            if len(kept) == settings.max_chunks or passage is None:
                left_out.append(extract.chunks[0].citation_id)
                continue
            kept.append((extract, passage))
            room -= passage.tokens
        documents = list(dict.fromkeys(_document(extract) for extract, _ in kept))
        kept.sort(key=lambda item: (documents.index(_document(item[0])), item[0].char_start))
        passages = tuple(
            replace(passage, alias=f"C{number}")
            for number, (_, passage) in enumerate(kept, start=1)
        )
        return KnowledgeContext(
            _render(passages, settings.format),
            {passage.alias: passage.citation_ids[0] for passage in passages},
            passages,
            sum(passage.tokens for passage in passages),
            tuple(left_out),
        )


def _frame_tokens(chunks: Sequence[KnowledgeChunk], form: str) -> int:
    """Return what stands around all passages, counted by the first one's tokenizer."""
    return chunks[0].tokenizer.count([_render((), form)])[0] if chunks else 0


def _document(extract: _Extract) -> tuple[str, str]:
    return extract.chunks[0].namespace, extract.chunks[0].document_id


def _extracts(chunks: Sequence[KnowledgeChunk], mode: str) -> list[_Extract]:
    """Return what is shown for the chunks, each passage once, in the order of its best chunk."""
    groups: dict[tuple[str, ...], list[KnowledgeChunk]] = {}
    for chunk in chunks:
        groups.setdefault(_passage_key(chunk, mode), []).append(chunk)
    return [_extract(tuple(group), mode) for group in groups.values()]


def _passage_key(chunk: KnowledgeChunk, mode: str) -> tuple[str, ...]:
    if mode == "chunk":
        return chunk.namespace, chunk.chunk_id
    if mode == "parent":
        return chunk.namespace, chunk.parent_id
    if chunk.window is None:
        raise UsageError(
            "these chunks were retrieved without windows: retrieve with `inject.mode: window` and "
            "give `resolve_inject_config` the same configuration."
        )
    return chunk.namespace, chunk.window.chunks[0].chunk_id


def _extract(chunks: tuple[KnowledgeChunk, ...], mode: str) -> _Extract:
    best = chunks[0]
    if mode == "parent" and best.parent is not None:
        whole = best.parent
        return _Extract(
            chunks, whole.text, whole.char_start, whole.char_end, whole.page_start,
            whole.page_end, whole.section_path, whole.page_labels,
        )  # fmt: skip
    if mode == "window" and best.window is not None:
        first, last = best.window.chunks[0], best.window.chunks[-1]
        return _Extract(
            chunks, best.window.text, first.char_start, last.char_end, first.page_start,
            last.page_end, tuple(best.metadata["section_path"]), _labels_over(first, last),
        )  # fmt: skip
    span, page_end = best.source_spans[0], best.hit.page_end if best.hit else None
    return _Extract(
        chunks, best.content, span.start_offset, span.end_offset, span.page, page_end or span.page,
        tuple(best.metadata["section_path"]), best.hit.page_labels if best.hit else (),
    )  # fmt: skip


def _labels_over(first: "Hit", last: "Hit") -> tuple[str, ...]:
    """Return what the pages from those of one hit to those of another bear in print."""
    known = {
        page: label
        for hit in (first, last)
        for page, label in enumerate(hit.page_labels, start=hit.page_start or 1)
    }
    return tuple(known.get(page, "") for page in range(min(known), max(known) + 1)) if known else ()


def _fitting(
    extract: _Extract, settings: InjectSettings, room: int, *, may_cut: bool
) -> ContextPassage | None:
    """Return the passage where it fits, cut where it may be; None where it does not fit."""
    from rag_assets.evidence.locating import locate

    best = extract.chunks[0]
    place = locate(
        extract.page_start, extract.page_end, extract.char_start, extract.char_end, (),
        labels=extract.page_labels, first_label=extract.page_start,
    )  # fmt: skip
    passage = ContextPassage(
        # The longest alias that there can be: the real one is never counted as less.
        f"C{settings.max_chunks}",
        best.namespace,
        best.document_id,
        str(best.metadata["doc_title"] or best.document_id),
        " › ".join(part for part in extract.section_path if part.strip()),
        place.text if place else "",
        extract.text.strip(),
        tuple(chunk.citation_id for chunk in extract.chunks),
    )
    tokenizer = best.tokenizer

    def count(one: ContextPassage) -> int:
        # With what stands between two passages.
        mark = "," if settings.format == "json" else ""
        return tokenizer.count([_render_one(one, settings.format) + mark])[0]

    needed = count(passage)
    if needed <= room:
        return replace(passage, tokens=needed)
    spans = tokenizer.token_spans(passage.text)
    spare = room - (needed - len(spans))
    while may_cut and spare > 0:
        cut = replace(passage, text=passage.text[: spans[spare - 1][1]] + " …", is_cut=True)
        needed = count(cut)
        if needed <= room:
            return replace(cut, tokens=needed)
        spare -= needed - room
    return None


def _render(passages: Sequence[ContextPassage], form: str) -> str:
    parts = [_render_one(passage, form) for passage in passages]
    if form == "json":
        return json.dumps([json.loads(part) for part in parts], ensure_ascii=False, indent=1)
    if form == "xml":
        return "\n".join(["<passages>", *parts, "</passages>"])
    return "\n\n".join(parts)


def _render_one(passage: ContextPassage, form: str) -> str:
    fields: dict[str, Any] = {
        "alias": passage.alias,
        "document": passage.document_id,
        "title": passage.title,
        "section": passage.section,
        "place": passage.place,
    }
    shown = {key: value for key, value in fields.items() if value}
    if form == "json":
        return json.dumps({**shown, "text": passage.text}, ensure_ascii=False, indent=1)
    if form == "xml":
        marks = " ".join(f"{key}={quoteattr(value)}" for key, value in shown.items())
        return f"<passage {marks}>\n{escape(passage.text)}\n</passage>"
    where = " · ".join(part for part in (passage.title, passage.section, passage.place) if part)
    text = _ALIAS_LIKE.sub(r"\1\\", passage.text)
    return f"[{passage.alias}] {' '.join(where.split())}\n\n{text}"
