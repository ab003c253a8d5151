"""The beginning of a paper's introduction, as background to what was found in it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.model import SectionCategory, UsageError
from rag_assets.retrieval.filters import NOT_EVIDENCE, SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.papers.library import opening_chunks
from rag_assets.retrieval.retriever import Retriever
from rag_assets.retrieval.windows import Window

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
    for section, chunks in _beginnings(reader, doc_uid):
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


def _beginnings(reader: "Reader", doc_uid: str) -> "list[tuple[str, list[Hit]]]":
    found = [
        ("introduction", _of_section(reader, doc_uid, SectionCategory.INTRODUCTION)),
        ("abstract", _of_section(reader, doc_uid, SectionCategory.ABSTRACT)),
    ]
    key = opening_chunks(reader).get(doc_uid)
    if key is not None:
        hits = reader.fetch_hits([key.partition("::")[2]])
        found.append(("beginning", list(hits.values())))
    return found


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
