"""Parents and chunks as rows of their records."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rag_assets.model import Article, Chunk, PageBox, Parent, hash_text

if TYPE_CHECKING:
    import pyarrow as pa

# Left out of digests: the key, and the text that its hash stands for.
_NOT_DIGESTED = frozenset({"content_hash", "text"})


def boxes_type() -> "pa.DataType":
    """Return the type of a list of `PageBox`."""
    import pyarrow as pa

    edges = [(name, pa.float64()) for name in ("x0", "y0", "x1", "y1")]
    return pa.list_(pa.struct([("page", pa.int64()), *edges]))


def articles_type() -> "pa.DataType":
    """Return the type of a list of `Article`."""
    import pyarrow as pa

    texts, numbers = pa.string(), pa.int64()
    return pa.list_(
        pa.struct(
            [
                ("key", texts),
                ("number", numbers),
                ("part", numbers),
                ("shown", texts),
                ("char_start", numbers),
                ("char_end", numbers),
            ]
        )
    )


def parents_schema() -> "pa.Schema":
    """Return the schema of the record `parents`: the fields of Parent and the text's hash."""
    import pyarrow as pa

    page_start = pa.struct([("page", pa.int32()), ("start", pa.int64())])
    return pa.schema(
        [
            ("content_hash", pa.string()),
            ("order", pa.int32()),
            ("label", pa.string()),
            ("char_start", pa.int64()),
            ("char_end", pa.int64()),
            ("page_starts", pa.list_(page_start)),
            ("section_path", pa.list_(pa.string())),
            ("text", pa.string()),
            ("hash", pa.string()),
        ]
    )


def chunks_schema() -> "pa.Schema":
    """Return the schema of the record `chunks`: the fields of Chunk and the text's hash."""
    import pyarrow as pa

    strings = pa.list_(pa.string())
    return pa.schema(
        [
            ("content_hash", pa.string()),
            ("order", pa.int32()),
            ("parent_label", pa.string()),
            ("char_start", pa.int64()),
            ("char_end", pa.int64()),
            ("page_start", pa.int32()),
            ("page_end", pa.int32()),
            ("kind", pa.string()),
            ("section_title", pa.string()),
            ("parent_section", pa.string()),
            ("section_path", strings),
            ("hierarchy_level", pa.int32()),
            ("section_category", pa.int32()),
            ("section_subtype", pa.string()),
            ("context", pa.string()),
            ("prepared", pa.string()),
            ("question", pa.string()),
            ("token_count", pa.int32()),
            ("input_tokens", pa.int32()),
            ("boxes", boxes_type()),
            ("attachment_ids", strings),
            ("is_cut", pa.bool_()),
            ("law_title", pa.string()),
            ("articles", articles_type()),
            ("text", pa.string()),
            ("chunk_hash", pa.string()),
        ]
    )


def parent_row(content: str, parent: Parent) -> dict[str, Any]:
    """Return a parent as a row of `parents_schema`."""
    return {
        "content_hash": content,
        "order": parent.order,
        "label": parent.label,
        "char_start": parent.char_start,
        "char_end": parent.char_end,
        "page_starts": [{"page": page, "start": start} for page, start in parent.page_starts],
        "section_path": list(parent.section_path),
        "text": parent.text,
        "hash": hash_text(parent.text),
    }


def restore_parent(row: Mapping[str, Any]) -> Parent:
    """Return the parent that `parent_row` has written."""
    return Parent(
        row["label"],
        row["order"],
        row["char_start"],
        row["char_end"],
        row["text"],
        tuple((pair["page"], pair["start"]) for pair in row["page_starts"]),
        tuple(row["section_path"]),
    )


def chunk_row(content: str, chunk: Chunk) -> dict[str, Any]:
    """Return a chunk as a row of `chunks_schema`."""
    return {
        "content_hash": content,
        "order": chunk.order,
        "parent_label": chunk.parent_label,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "page_start": chunk.page_start,
        "page_end": chunk.page_end,
        "kind": chunk.kind,
        "section_title": chunk.section_title,
        "parent_section": chunk.parent_section,
        "section_path": list(chunk.section_path),
        "hierarchy_level": chunk.hierarchy_level,
        "section_category": int(chunk.section_category),
        "section_subtype": chunk.section_subtype,
        "context": chunk.context,
        "prepared": chunk.prepared,
        "question": chunk.question,
        "token_count": chunk.token_count,
        "input_tokens": chunk.input_tokens,
        "boxes": [_box_row(box) for box in chunk.boxes],
        "attachment_ids": list(chunk.attachment_ids),
        "is_cut": chunk.is_cut,
        "law_title": chunk.law_title,
        "articles": [_article_row(article) for article in chunk.articles],
        "text": chunk.text,
        "chunk_hash": hash_text(chunk.text),
    }


def _box_row(box: PageBox) -> dict[str, float]:
    return {"page": box.page, "x0": box.x0, "y0": box.y0, "x1": box.x1, "y1": box.y1}


def _article_row(article: Article) -> dict[str, str | int]:
    return {
        "key": article.key,
        "number": article.number,
        "part": article.part,
        "shown": article.shown,
        "char_start": article.char_start,
        "char_end": article.char_end,
    }


def digested_fields(row: Mapping[str, Any]) -> list[Any]:
    """Return the values of a row that the digest of its document covers."""
    return [value for name, value in row.items() if name not in _NOT_DIGESTED]
