"""A pack for a person: Markdown, or one HTML page with a picture of each quoted place."""

import re
from collections.abc import Iterator, Sequence

from rag_assets.evidence.pack import EvidenceItem, EvidencePack, ItemLaw, PackSource
from rag_assets.evidence.pictures import PagePictures
from rag_assets.model import (
    block_quote,
    code_span,
    drop_controls,
    escape_inline,
    escape_prose,
    show_figures,
)
from rag_assets.workspace import Workspace

# How a wording of a law is shown.

_NOTED = {
    "not_yet_in_force": "NOT YET IN FORCE",
    "superseded": "SUPERSEDED",
    "repealed": "REPEALED",
    "unknown": "standing UNKNOWN",
}


def describe_law(law: ItemLaw, as_of: str | None) -> str:
    """Return how a wording stands on the day of a pack, in one line.

    What is not in force, or not known, is in capitals.
    """
    return ", ".join(_told(law, as_of))


def _told(law: ItemLaw, as_of: str | None) -> Iterator[str]:
    yield f"{_NOTED.get(law.standing, 'in force')} on {as_of}"
    yield f"wording of {law.version_date}" if law.version_date else "day of the wording not known"
    if law.holds_from and not law.is_stated:
        yield "the text does not say since when it holds"
    elif law.holds_from and law.holds_from != law.version_date:
        yield f"holds from {law.holds_from}"
    if law.repeal:
        yield law.repeal


# A pack as Markdown, for a person who is about to cite from it.

_SHOWN_AUTHORS = 3
EDITED = "This passage was edited. The quote above is what is printed; searches read"
# A heading inside a passage must not be one of the pack.
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(?=\S)", re.MULTILINE)


def render_pack(pack: EvidencePack) -> str:
    """Return the pack as Markdown: head, summary of sources, then passages, or papers with theirs.

    A function of the pack alone.
    """
    if pack.mode == "papers":
        body = [line for number, source in enumerate(pack.sources, start=1)
                for line in _paper(number, source, pack)]  # fmt: skip
    else:
        body = [line for item in pack.items for line in _item(item, pack.as_of)]
    used = ", ".join(map(code_span, pack.doc_uids)) or "none"
    last = f"Sources used (doc_uid list): {used}"
    return "\n".join([*_head(pack), *_summary(pack), *body, last]) + "\n"


def _head(pack: EvidencePack) -> Iterator[str]:
    yield f"# {'Papers' if pack.mode == 'papers' else 'Evidence'}: {_line(pack.question)}\n"
    if pack.match is not None and pack.match.sentence is not None:
        yield f"**{escape_prose(pack.match.sentence)}**\n"
    yield f"- Query: {code_span(pack.query_id)}"
    for namespace, publication in pack.publications.items():
        build = code_span(pack.build_ids[namespace])
        yield f"- Publication: {code_span(f'{namespace}/{publication}')} (build {build})"
    for name, text in pack.queries.items():
        if text != pack.question:
            yield f"- Searched as `{name}`: {_line(text)}"
    yield f"- Applied filters: {_line('; '.join(pack.filters))}"
    yield f"- Search: {_line(describe_search(pack))}"
    shown = ", ".join(f"{quality} {count}" for quality, count in pack.locator_quality.items())
    yield f"- LOCATOR_QUALITY: {shown or 'no items'}"
    for warning in pack.warnings:
        yield f"- WARN: {escape_prose(warning)}"
    yield ""


def _summary(pack: EvidencePack) -> Iterator[str]:
    if not pack.sources or pack.mode == "papers":
        return
    yield "| source | cite as | passages |"
    yield "|---|---|---|"
    for source in pack.sources:
        where = ", ".join(f"{i.rank} ({i.locator})" for i in _items_of(source, pack))
        cite = code_span(f"{{#{source.cite_as}}}", in_table=True)
        yield f"| {_line(describe_source(source))} | {cite} | {_line(where)} |"
    yield ""


def describe_search(pack: EvidencePack) -> str:
    """Return in one line how the items were found."""
    settings = pack.settings
    parts = [settings["method"], f"{settings['pool_k']} candidates a searcher"]
    is_rrf = settings["fusion"]["kind"] == "rrf"
    parts.append(f"RRF k = {settings['rrf_k']}" if is_rrf else "weighted sum of scores")
    rerank = settings["rerank"]
    if rerank["mode"] != "off":
        by = rerank["model"] if rerank["mode"] == "model" else "field weights"
        parts.append(f"reranked by {by}")
    parts.append(f"{len(pack.items)} of at most {settings['top_k']} items")
    return ", ".join(parts)


def describe_source(source: PackSource) -> str:
    """Return authors, year and title in one line, as far as they are known."""
    year = f" ({source.year})" if source.year else ""
    names = shown_authors(source.authors)
    title = source.title or source.doc_uid
    return f"{names}{year}: {title}" if names else f"{title}{year}"


def shown_authors(authors: Sequence[str]) -> str:
    """Return the first three authors as printed, and that there are more."""
    if len(authors) > _SHOWN_AUTHORS:
        return f"{', '.join(authors[:_SHOWN_AUTHORS])} et al."
    return ", ".join(authors)


def _item(item: EvidenceItem, as_of: str | None) -> Iterator[str]:
    yield f"## {item.rank}. {_line(f'{item.title or item.doc_uid}, {item.locator}')}\n"
    yield f"> **{_line(item.shown_quote)}**\n"
    yield f"Cite as {_marks(item)}\n"
    if item.law is not None:
        cited = f"{code_span(item.law.citation)}: " if item.law.citation else ""
        yield f"Law: {cited}{_line(describe_law(item.law, as_of))}\n"
    yield from _passage(item)
    if item.edited is not None:
        yield f"{EDITED}:\n"
        yield block_quote(shown_text(item.edited), "")
        yield ""
    place = code_span(item.parent_id)
    if item.locator_quality != "char_anchor":  # whose locator names both
        place += f", characters {item.char_start}–{item.char_end}"
        if item.section_path:
            place += f", section {_line(' › '.join(item.section_path))}"
    yield f"- Where: {_line(item.locator)} ({place}); locator_quality `{item.locator_quality}`"
    yield f"- Find it: from “{_line(item.anchor_begin)}” to “{_line(item.anchor_end)}”"
    yield f"- Quote checked against {_checked(item)}"
    ranks = ", ".join(f"{name} rank {rank}" for name, rank in sorted(item.ranks.items()))
    yield f"- Why: score {item.retrieval_score:.4f} ({ranks})"
    yield f"- Lasting id: {code_span(item.citation_id)}\n"


def _checked(item: EvidenceItem) -> str:
    return "what is printed" if item.quote_check == "printed" else "the document's text"


def _passage(item: EvidenceItem) -> Iterator[str]:
    """Yield the passage around the quote, the quote in bold; nothing where it is the quote."""
    if item.snippet.strip() == item.exact_quote.strip():
        return
    yield "In its passage:\n"
    yield block_quote(shown_text(item.snippet), item.exact_quote)
    yield ""


def shown_text(text: str) -> str:
    """Return a passage as it is shown: headings are lines as all others, pictures their names."""
    return _HEADING.sub("", show_figures(text))


def _paper(number: int, source: PackSource, pack: EvidencePack) -> Iterator[str]:
    yield f"## {number}. {_line(source.title or source.doc_uid)}\n"
    stated = [
        ", ".join(source.authors),
        str(source.year or ""),
        source.publisher or "",
        f"doi:{source.doi}" if source.doi else source.url or "",
    ]
    said = ". ".join(part for part in stated if part)
    if said:
        yield f"{escape_inline(said)}.\n"
    yield f"Cite as {_marks(source)}. {_count(source)}:\n"
    for item in _items_of(source, pack):
        law = ""
        if item.law is not None:
            cited = f"{code_span(item.law.citation)}, " if item.law.citation else ""
            law = f"; {cited}{_line(describe_law(item.law, pack.as_of))}"
        yield (
            f"- {_line(item.locator)}: “{_line(item.shown_quote)}” "
            f"(passage {item.rank}, score {item.retrieval_score:.4f}{law})"
        )
    yield ""


def _count(source: PackSource) -> str:
    hits = "1 hit" if source.hits == 1 else f"{source.hits} hits"
    more = source.hits - len(source.ranks)
    return f"{hits}, of which the best" if more else hits


def _items_of(source: PackSource, pack: EvidencePack) -> list[EvidenceItem]:
    return [item for item in pack.items if item.rank in source.ranks]


def _line(text: str) -> str:
    """Return what stands behind words of ours, on one line."""
    return escape_inline(text, opens=False)


def _marks(cited: EvidenceItem | PackSource) -> str:
    key = f" ({code_span(cited.citation_key)})" if cited.citation_key else ""
    return code_span(f"{{#{cited.cite_as}}}") + key


# A pack as one HTML file: each quote marked on its page of the source, or in its text.
#
# No scripts, and nothing from elsewhere: it can be mailed, printed and kept.


def render_page(workspace: Workspace, pack: EvidencePack) -> str:
    """Return a pack as an HTML page with a picture of each quoted place.

    A place is drawn from the raw file where that still has the bytes that were read; else, and for
    formats without pages, the text around it is shown with the quote marked.

    Args:
        workspace: that holds the raw files.
        pack: the only other thing that is read.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rag_assets.evidence"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    sources = {(source.namespace, source.doc_uid): source for source in pack.sources}
    items = list(pack.items)
    if pack.mode == "papers":
        by_rank = {item.rank: item for item in items}
        items = [by_rank[rank] for source in pack.sources for rank in source.ranks]
    with PagePictures(workspace) as pictures:
        owned = [(item, sources[item.namespace, item.doc_uid]) for item in items]
        shown = [(item, source, *pictures.draw(item, source)) for item, source in owned]
    page = environment.get_template("pack.html").render(
        pack=pack, shown=shown, where={item.rank: item.locator for item in items},
        search=describe_search(pack), describe_source=describe_source,
        describe_law=describe_law, shown_authors=shown_authors, shown_text=shown_text,
        checked=_checked, edited=EDITED,
    )  # fmt: skip
    return drop_controls(page)
