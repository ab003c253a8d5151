"""An evidence pack as Markdown, for a person who is about to cite from it."""

from collections import Counter
from collections.abc import Iterator

from rag_assets.evidence.pack import EvidenceItem, EvidencePack


def render_pack(pack: EvidencePack) -> str:
    """Return the pack as Markdown: head, summary of sources, then the items in order."""
    return "\n".join([*_head(pack), *(line for item in pack.items for line in _item(item))]) + "\n"


def _head(pack: EvidencePack) -> Iterator[str]:
    yield f"# Evidence: {_line(pack.question)}"
    yield ""
    yield f"- Query: `{pack.query_id}`"
    for namespace, publication in pack.publications.items():
        yield f"- Publication: `{namespace}/{publication}` (build `{pack.build_ids[namespace]}`)"
    for name, text in pack.queries.items():
        if text != pack.question:
            yield f"- Also asked as `{name}`: {_line(text)}"
    yield f"- Applied filters: {'; '.join(pack.filters)}"
    yield f"- Search: {_search(pack)}"
    qualities = Counter(item.locator_quality for item in pack.items)
    shown = ", ".join(f"{quality} {count}" for quality, count in sorted(qualities.items()))
    yield f"- LOCATOR_QUALITY: {shown or 'no items'}"
    for warning in pack.warnings:
        yield f"- WARN: {warning}"
    yield ""
    if not pack.items:
        return
    yield "| source | title | items |"
    yield "|---|---|---|"
    counts = Counter(item.doc_uid for item in pack.items)
    titles = {item.doc_uid: item.title or "" for item in pack.items}
    for uid in pack.doc_uids:
        yield f"| `{uid}` | {_cell(titles[uid])} | {counts[uid]} |"
    yield ""


def _search(pack: EvidencePack) -> str:
    settings = pack.settings
    parts = [settings["method"], f"{settings['pool_k']} candidates a searcher"]
    fusion = settings["fusion"]
    if fusion["kind"] == "rrf":
        parts.append(f"RRF k = {settings['rrf_k']}")
    else:
        how = fusion["normalize"] if fusion["score_mode"] == "normalize" else fusion["score_mode"]
        parts.append(f"weighted sum ({how})")
    rerank = settings["rerank"]
    if rerank["mode"] != "off":
        by = rerank["model"] if rerank["mode"] == "model" else "field weights"
        parts.append(f"reranked by {by}")
    parts.append(f"{len(pack.items)} of at most {settings['top_k']} items")
    return ", ".join(parts)


def _item(item: EvidenceItem) -> Iterator[str]:
    yield f"## {item.rank}. {_line(item.title or item.doc_uid)}, {item.locator}"
    yield ""
    yield f"Cite as `{{#{item.doc_uid}}}`" + (
        f" (`{item.citation_key}`)" if item.citation_key else ""
    )
    yield ""
    yield f"> **{_line(item.exact_quote)}**"
    yield ""
    ranks = ", ".join(f"{name} rank {rank}" for name, rank in sorted(item.ranks.items()))
    place = f"`{item.parent_id}`, characters {item.char_start}–{item.char_end}"
    if item.section_path:
        place += f", section {' › '.join(item.section_path)}"
    yield f"- Where: {item.locator} ({place}); locator_quality `{item.locator_quality}`"
    yield f"- Find it: from “{item.anchor_begin}” to “{item.anchor_end}”"
    yield f"- Why: score {item.retrieval_score:.4f} ({ranks})"
    yield f"- Lasting id: `{item.citation_id}`"
    yield ""
    yield "Passage:"
    yield ""
    yield from (f"> {line}".rstrip() for line in item.snippet.splitlines())
    yield ""


def _line(text: str) -> str:
    """Fold to one line and keep Markdown from reading marks into it."""
    folded = " ".join(text.split())
    for mark in ("\\", "`", "*", "_", "[", "]", "<", "#"):
        folded = folded.replace(mark, f"\\{mark}")
    return folded


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")
