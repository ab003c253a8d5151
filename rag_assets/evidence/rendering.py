"""A pack for a person: Markdown, or one HTML page with a picture of each quoted place."""

import re
from collections.abc import Iterator, Sequence
from html import escape

from rag_assets.evidence.pack import EvidenceItem, EvidencePack, ItemLaw, PackSource
from rag_assets.evidence.pictures import PagePictures, Picture
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
    yield f"# {'Papers' if pack.mode == 'papers' else 'Evidence'}: {_line(pack.question)}"
    yield ""
    if pack.match is not None and pack.match.sentence is not None:
        yield f"**{escape_prose(pack.match.sentence)}**"
        yield ""
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
    fusion = settings["fusion"]
    if fusion["kind"] == "rrf":
        parts.append(f"RRF k = {settings['rrf_k']}")
    else:
        parts.append("weighted sum of scores")
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
    yield f"## {item.rank}. {_line(f'{item.title or item.doc_uid}, {item.locator}')}"
    yield ""
    yield f"> **{_line(item.shown_quote)}**"
    yield ""
    yield f"Cite as {_marks(item)}"
    yield ""
    if item.law is not None:
        cited = f"{code_span(item.law.citation)}: " if item.law.citation else ""
        yield f"Law: {cited}{_line(describe_law(item.law, as_of))}"
        yield ""
    yield from _passage(item)
    if item.edited is not None:
        yield f"{EDITED}:"
        yield ""
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
    yield f"- Lasting id: {code_span(item.citation_id)}"
    yield ""


def _checked(item: EvidenceItem) -> str:
    return "what is printed" if item.quote_check == "printed" else "the document's text"


def _passage(item: EvidenceItem) -> Iterator[str]:
    """Yield the passage around the quote, the quote in bold; nothing where it is the quote."""
    if item.snippet.strip() == item.exact_quote.strip():
        return
    yield "In its passage:"
    yield ""
    text = shown_text(item.snippet)
    yield block_quote(text, item.exact_quote)
    yield ""


def shown_text(text: str) -> str:
    """Return a passage as it is shown: headings are lines as all others, pictures their names."""
    return _HEADING.sub("", show_figures(text))


def _paper(number: int, source: PackSource, pack: EvidencePack) -> Iterator[str]:
    yield f"## {number}. {_line(source.title or source.doc_uid)}"
    yield ""
    stated = [
        ", ".join(source.authors),
        str(source.year or ""),
        source.publisher or "",
        f"doi:{source.doi}" if source.doi else source.url or "",
    ]
    said = ". ".join(part for part in stated if part)
    if said:
        yield f"{escape_inline(said)}."
        yield ""
    yield f"Cite as {_marks(source)}. {_count(source)}:"
    yield ""
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

_STYLE = """
:root { --ink: #1c2024; --soft: #60646c; --line: #d9d9e0; --accent: #3e63dd; --mark: #ffe629; }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, "Noto Sans", "Noto Sans CJK SC", "PingFang SC",
       "Microsoft YaHei", sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1.2rem;
       color: var(--ink); background: #fcfcfd; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .8rem; }
h2 { font-size: 1.12rem; line-height: 1.35; margin: 0 0 .2rem; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0;
     font-size: .86rem; color: var(--soft); }
dt { font-weight: 600; } dd { margin: 0; }
code { font: .92em ui-monospace, "SF Mono", Consolas, monospace; background: #f0f0f3;
       padding: .08em .35em; border-radius: .25rem; }
.warn { background: #fff7c2; border: 1px solid #f3d768; border-radius: .4rem;
        padding: .4rem .8rem; margin: .6rem 0; font-size: .9rem; }
ol.sources { padding-left: 1.4rem; font-size: .93rem; }
ol.sources li { margin: .25rem 0; }
article { border: 1px solid var(--line); border-radius: .6rem; background: #fff;
          padding: 1rem 1.2rem; margin: 1.2rem 0; break-inside: avoid; }
.by, .where { color: var(--soft); font-size: .88rem; }
blockquote { margin: .7rem 0; padding: .1rem 0 .1rem .9rem; border-left: .25rem solid var(--mark);
             font-size: 1.06rem; }
figure { margin: .8rem 0 .2rem; }
.paper { position: relative; border: 1px solid var(--line); overflow: hidden; }
.paper img { display: block; width: 100%; height: auto; }
.paper i { position: absolute; background: var(--mark); opacity: .85; mix-blend-mode: multiply;
           border-radius: 2px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
figcaption { color: var(--soft); font-size: .8rem; margin-top: .2rem; }
.text { white-space: pre-wrap; background: #f9f9fb; border-radius: .4rem; padding: .6rem .8rem;
        font-size: .93rem; margin: .4rem 0; }
mark { background: var(--mark); color: inherit; border-radius: 2px;
       print-color-adjust: exact; -webkit-print-color-adjust: exact; }
details { margin-top: .5rem; font-size: .9rem; } summary { cursor: pointer; color: var(--soft); }
details dl { margin-top: .4rem; }
h3 { font-size: 1rem; margin: 2rem 0 0; }
@media print { body { max-width: none; margin: 0; } }
"""


def render_page(workspace: Workspace, pack: EvidencePack) -> str:
    """Return a pack as an HTML page with a picture of each quoted place.

    A place is drawn from the raw file where that still has the bytes that were read; else, and for
    formats without pages, the text around it is shown with the quote marked.

    Args:
        workspace: that holds the raw files.
        pack: the only other thing that is read.
    """
    sources = {(source.namespace, source.doc_uid): source for source in pack.sources}
    with PagePictures(workspace) as pictures:
        body = "".join(
            part
            for item in _ordered(pack)
            for part in _article(item, sources[item.namespace, item.doc_uid], pictures, pack.as_of)
        )
    return drop_controls(
        "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>{escape(pack.question)}</title><style>{_STYLE}</style></head>\n<body>"
        f"<h1>{escape(pack.question)}</h1>\n{''.join(_page_head(pack))}{body}</body></html>\n"
    )


def _ordered(pack: EvidencePack) -> list[EvidenceItem]:
    if pack.mode == "evidence":
        return list(pack.items)
    by_rank = {item.rank: item for item in pack.items}
    return [by_rank[rank] for source in pack.sources for rank in source.ranks]


def _page_head(pack: EvidencePack) -> Iterator[str]:
    quality = ", ".join(f"{name} {count}" for name, count in pack.locator_quality.items())
    rows = [("Query", f"<code>{escape(pack.query_id)}</code>")]
    rows += [
        ("Publication", f"<code>{escape(f'{name}/{shown}')}</code>, build <code>{build}</code>")
        for name, shown in pack.publications.items()
        for build in [escape(pack.build_ids[name])]
    ]
    rows += [
        (f"Searched as {name}", escape(text))
        for name, text in pack.queries.items()
        if text != pack.question
    ]
    rows += [
        ("Applied filters", escape("; ".join(pack.filters))),
        ("Search", escape(describe_search(pack))),
        ("LOCATOR_QUALITY", escape(quality or "no items")),
    ]
    if pack.match is not None and pack.match.sentence is not None:
        yield f"<p class=warn><strong>{escape(pack.match.sentence)}</strong></p>"
    yield _list(rows)
    yield from (f"<p class=warn>{escape(warning)}</p>" for warning in pack.warnings)
    yield "<h3>Returned sources</h3><ol class=sources>"
    where = {item.rank: item.locator for item in pack.items}
    for source in pack.sources:
        links = ", ".join(
            f"<a href='#item-{rank}'>{rank} ({escape(where[rank])})</a>" for rank in source.ranks
        )
        yield f"<li>{escape(describe_source(source))} <code>{_mark(source)}</code>: {links}</li>"
    yield "</ol>\n"


def _article(
    item: EvidenceItem, source: PackSource, pictures: PagePictures, as_of: str | None
) -> Iterator[str]:
    shown, why = pictures.draw(item, source)
    section = f" · {' › '.join(item.section_path)}" if item.section_path else ""
    if item.locator_quality == "char_anchor":
        section = ""  # the locator begins with it
    yield f"<article id=item-{item.rank}>"
    yield f"<h2>{item.rank}. {escape(item.title or item.doc_uid)}</h2>"
    by = ", ".join(filter(None, [shown_authors(source.authors), str(source.year or "")]))
    yield f"<div class=by>{escape(by)}</div>" if by else ""
    yield f"<blockquote>{escape(item.shown_quote)}</blockquote>"
    yield (
        f"<div class=where>Cite as <code>{_mark(source)}</code>"
        + (f" (<code>{escape(source.citation_key)}</code>)" if source.citation_key else "")
        + f" · {escape(item.locator + section)}</div>"
    )
    if item.law is not None:
        cited = f"<code>{escape(item.law.citation)}</code>: " if item.law.citation else ""
        kind = "where" if item.law.standing == "in_force" else "warn"
        yield f"<p class={kind}>{cited}{escape(describe_law(item.law, as_of))}</p>"
    yield from (_figure(picture, item) for picture in shown)
    if why:
        yield f"<p class=where>{escape(why)}</p>"
    passage = f"<div class=text>{_marked(item.snippet, item.exact_quote)}</div>"
    yield f"<details><summary>The passage</summary>{passage}</details>" if shown else passage
    if item.edited is not None:
        yield f"<p class=where>{EDITED}:</p><div class=text>{escape(item.edited)}</div>"
    around = _marked(item.parent_text, item.exact_quote)
    yield f"<details><summary>What stands around it</summary><div class=text>{around}</div>"
    yield f"</details><details><summary>How it was found and checked</summary>{_facts(item)}"
    yield "</details></article>\n"


def _figure(picture: Picture, item: EvidenceItem) -> str:
    marks = "".join(
        f"<i style='left:{left:.2%};top:{top:.2%};width:{width:.2%};height:{height:.2%}'></i>"
        for left, top, width, height in picture.marks
    )
    caption = f"Page {picture.page} of the file"
    return (
        f"<figure><div class=paper><img src='{picture.data_uri}' width={picture.width} "
        f"height={picture.height} alt='{escape(caption)}, with the quote marked'>{marks}</div>"
        f"<figcaption>{caption} · {escape(item.locator_quality)}</figcaption></figure>"
    )


def _marked(text: str, quote: str) -> str:
    before, found, after = (shown_text(part) for part in text.partition(quote))
    if not found:
        return escape(before)  # a quote that runs over the end of its parent
    return f"{escape(before)}<mark>{escape(found)}</mark>{escape(after)}"


def _facts(item: EvidenceItem) -> str:
    ranks = ", ".join(f"{name} rank {rank}" for name, rank in sorted(item.ranks.items()))
    checked = "what is printed" if item.quote_check == "printed" else "the document's text"
    return _list(
        [
            ("Parent", f"<code>{escape(item.parent_id)}</code>"),
            ("Chunk", f"<code>{escape(item.chunk_id)}</code>"),
            ("Characters", f"{item.char_start}–{item.char_end} of the document's text"),
            ("From … to", f"“{escape(item.anchor_begin)}” … “{escape(item.anchor_end)}”"),
            ("Score", f"{item.retrieval_score:.4f} ({escape(ranks)})"),
            ("Quote checked against", checked),
            ("Lasting id", f"<code>{escape(item.citation_id)}</code>"),
        ]
    )


def _list(rows: list[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{text}</dd>' for name, text in rows)}</dl>"


def _mark(source: PackSource) -> str:
    return escape(f"{{#{source.cite_as}}}")
