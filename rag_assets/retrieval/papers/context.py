"""The beginning of a paper's introduction, as background to what was found in it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.model import SectionCategory, UsageError
from rag_assets.retrieval.filters import NOT_EVIDENCE, SearchFilters
from rag_assets.retrieval.hits import Hit, Window, expand_windows
from rag_assets.retrieval.papers.locating import Paper, opening_chunks, paper_of
from rag_assets.retrieval.retriever import Retriever

if TYPE_CHECKING:
    from rag_assets.embedding import EmbeddingTokenizer
    from rag_assets.retrieval.reader import Reader

# Spec 002 §3.3.3.
INTRODUCTION_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Introduction:
    """Background of a paper.

    Args:
        section: `introduction`; `abstract` or `beginning` of a paper without one; "" for none.
        text: its first tokens, whole words.
        chunks: that `text` is of, in order.
        tokens: of `text` by the namespace's tokenizer.
        is_cut: whether more follows.
    """

    namespace: str
    doc_uid: str
    section: str
    text: str
    chunks: tuple[Hit, ...]
    tokens: int
    is_cut: bool


def introduction(
    retriever: Retriever,
    doc_uid: str,
    tokens: int = INTRODUCTION_TOKENS,
    *,
    namespace: str | None = None,
) -> Introduction:
    """Return the first tokens of a paper's introduction (category 1).

    A paper without one is told by its abstract, else by its first passage: `section` says which.

    Args:
        retriever: entered.
        doc_uid: of the paper.
        tokens: at most, from 1, counted by the tokenizer of the paper's namespace.
        namespace: where several hold that uid.

    Raises:
        UsageError: no publication, or several, hold the document; `tokens` below 1.
        ConfigurationError: a model of the namespace, whose tokenizer counts, is not here.
    """
    if tokens < 1:
        raise UsageError(f"'tokens' must be at least 1, got {tokens}.")
    from rag_assets.embedding import joint_tokenizer

    reader = reader_of(retriever, doc_uid, namespace)
    found = [
        ("introduction", _of_section(reader, doc_uid, SectionCategory.INTRODUCTION)),
        ("abstract", _of_section(reader, doc_uid, SectionCategory.ABSTRACT)),
    ]
    key = opening_chunks(reader).get(doc_uid)
    if key is not None:
        hits = reader.fetch_hits([key.partition("::")[2]])
        found.append(("beginning", list(hits.values())))
    for section, chunks in found:
        if not chunks:
            continue
        tokenizer = joint_tokenizer(retriever.workspace.namespace(reader.namespace).settings.embed)
        return _cut(reader.namespace, doc_uid, section, chunks, tokens, tokenizer)
    return Introduction(reader.namespace, doc_uid, "", "", (), 0, is_cut=False)


def reader_of(retriever: Retriever, doc_uid: str, namespace: str | None = None) -> "Reader":
    """Return the reader that holds a document.

    Raises:
        UsageError: none holds it, or several do and none was named.
    """
    holding = [
        reader
        for reader in retriever.readers
        if namespace in {None, reader.namespace}
        and doc_uid in reader.documents().column("doc_uid").to_pylist()
    ]
    if len(holding) == 1:
        return holding[0]
    names = ", ".join(reader.namespace for reader in holding or retriever.readers)
    if holding:
        raise UsageError(f"document '{doc_uid}' stands in {names}: name one namespace.")
    raise UsageError(
        f"no publication of {names} holds a document '{doc_uid}'. `rag documents` lists them."
    )


def _of_section(reader: "Reader", doc_uid: str, category: SectionCategory) -> list[Hit]:
    filters = SearchFilters(doc_uids=(doc_uid,), section_categories=(int(category),))
    ids = reader.fetch_columns(["chunk_id"], filters).column("chunk_id").to_pylist()
    hits = [hit for hit in reader.fetch_hits(ids).values() if hit.kind not in NOT_EVIDENCE]
    return sorted(hits, key=lambda hit: hit.chunk_index)


def _cut(
    namespace: str,
    doc_uid: str,
    section: str,
    chunks: list[Hit],
    most: int,
    tokenizer: "EmbeddingTokenizer",
) -> Introduction:
    kept: list[Hit] = []
    text, spans = "", tuple[tuple[int, int], ...]()
    for chunk in chunks:
        kept.append(chunk)
        text = Window(namespace, doc_uid, tuple(kept), ()).text.strip()
        spans = tuple(tokenizer.token_spans(text))
        if len(spans) > most:
            break
    end = _word_end(text, spans[most - 1][1]) if len(spans) > most else len(text)
    count = sum(stop <= end for _, stop in spans)
    is_cut = end < len(text) or len(kept) < len(chunks)
    return Introduction(namespace, doc_uid, section, text[:end], tuple(kept), count, is_cut)


def _word_end(text: str, end: int) -> int:
    """Return where the last whole Latin word up to `end` stops; a single longer one is cut."""
    start = end
    while start and _is_inner(text[start - 1]) and _is_inner(text[start : start + 1]):
        start -= 1
    return len(text[:start].rstrip()) or end


def _is_inner(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


# What a language model is given of papers: background once a paper, then what was found in it.


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


# The passages around one passage, by its place in the document (spec 002 §3.2).


def window(
    retriever: Retriever,
    doc_uid: str,
    chunk_id: str | int,
    size: int = 1,
    *,
    namespace: str | None = None,
) -> Window:
    """Return the passages from `size` before to `size` after one, of its paper alone.

    Args:
        retriever: entered.
        doc_uid: of the paper.
        chunk_id: `doc_uid:number` as a hit names it, or the number (`chunk_index`) alone.
        size: passages to each side, from 0; fewer at the ends of the paper.
        namespace: where several hold that uid.

    Raises:
        UsageError: no publication, or several, hold the paper; it has no such passage; `size`
            below 0.
    """
    reader = reader_of(retriever, doc_uid, namespace)
    written = str(chunk_id)
    own = written if written.startswith(f"{doc_uid}:") else f"{doc_uid}:{written}"
    hits = list(reader.fetch_hits([own]).values())
    if not hits:
        raise UsageError(
            f"document '{doc_uid}' has no passage '{chunk_id}'. A hit names its own as chunk_id "
            f"({doc_uid}:0, {doc_uid}:1 …)."
        )
    (found,) = expand_windows([reader], hits, size)
    return found
