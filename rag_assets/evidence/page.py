"""A pack as one HTML file: each quote marked on its page of the source, or in its text.

No scripts, and nothing from elsewhere: it can be mailed, printed and kept.
"""

from collections.abc import Iterator
from html import escape

from rag_assets.evidence.laws import describe_standing
from rag_assets.evidence.pack import EvidenceItem, EvidencePack, PackSource
from rag_assets.evidence.pictures import PagePictures, Picture
from rag_assets.evidence.rendering import (
    EDITED,
    describe_search,
    describe_source,
    shown_authors,
    shown_text,
)
from rag_assets.model import drop_controls
from rag_assets.workspace import Workspace

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
        f"<h1>{escape(pack.question)}</h1>\n{''.join(_head(pack))}{body}</body></html>\n"
    )


def _ordered(pack: EvidencePack) -> list[EvidenceItem]:
    if pack.mode == "evidence":
        return list(pack.items)
    by_rank = {item.rank: item for item in pack.items}
    return [by_rank[rank] for source in pack.sources for rank in source.ranks]


def _head(pack: EvidencePack) -> Iterator[str]:
    quality = ", ".join(f"{name} {count}" for name, count in pack.locator_quality.items())
    rows = [("Query", f"<code>{escape(pack.query_id)}</code>")]
    rows += [
        (
            "Publication",
            f"<code>{escape(f'{name}/{shown}')}</code>, build <code>{build}</code>",
        )
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
        yield f"<p class={kind}>{cited}{escape(describe_standing(item.law, as_of))}</p>"
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
