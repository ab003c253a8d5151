"""A preview as one HTML file without scripts and without anything from elsewhere."""

from collections.abc import Iterator, Sequence
from html import escape

from rag_assets.model import Chunk, drop_controls, show_figures
from rag_assets.previewing.source import ChunkPreview
from rag_assets.previewing.terminal import describe_articles, describe_place

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #1c2024; background: #fcfcfd; }
h1 { font-size: 1.4rem; margin-bottom: .2rem; }
.summary, .place, .path { color: #60646c; font-size: .85rem; }
.chunk { border: 1px solid #d9d9e0; border-left: .4rem solid #8da4ef; border-radius: .4rem;
         padding: .6rem .9rem; margin: .8rem 0; background: #fff; }
.chunk.table, .chunk.row { border-left-color: #65ba74; }
.chunk.reference, .chunk.footnote, .chunk.front { border-left-color: #b9bbc6; }
.chunk.code, .chunk.formula { border-left-color: #d19dff; }
.chunk.figure { border-left-color: #e2a336; }
.chunk.qa { border-left-color: #ee8ea4; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0 0; }
.context { color: #80838d; font-size: .85rem; margin: .3rem 0 0; white-space: pre-wrap; }
.bar { height: .3rem; background: #e8e8ec; border-radius: .2rem; margin-top: .5rem; }
.bar > i { display: block; height: 100%; background: #8da4ef; border-radius: .2rem; }
.cut { color: #ce2c31; }
"""


def render_html(preview: ChunkPreview, most_tokens: int) -> str:
    """Return a page with every chunk: place, section, what the model is told, text, size.

    Args:
        most_tokens: what a full bar stands for, normally `chunk.max_tokens`.
    """
    document = preview.document
    summary = (
        f"{len(document.text)} characters · {len(document.pages)} pages · "
        f"{len(document.sections)} sections · {len(preview.parents)} parents · "
        f"{len(preview.chunks)} chunks"
    )
    articles = preview.articles or [()] * len(preview.chunks)
    body = "\n".join(
        _card(chunk, held, most_tokens)
        for chunk, held in zip(preview.chunks, articles, strict=True)
    )
    warnings = "".join(f"<p class=cut>{escape(warning)}</p>" for warning in document.warnings)
    return drop_controls(
        f"<!doctype html><html lang='{escape(document.language or 'en')}'><meta charset=utf-8>"
        f"<meta name=viewport content='width=device-width'><title>{escape(preview.name)}</title>"
        f"<style>{_STYLE}</style><h1>{escape(document.title or preview.name)}</h1>"
        f"<p class=summary>{escape(preview.name)} · {summary}</p>{warnings}\n{body}\n</html>\n"
    )


def _card(chunk: Chunk, articles: Sequence[str], most_tokens: int) -> str:
    return "".join(_lines_of(chunk, articles, most_tokens))


def _lines_of(chunk: Chunk, articles: Sequence[str], most_tokens: int) -> Iterator[str]:
    share = min(100, round(100 * chunk.token_count / most_tokens))
    yield f"<div class='chunk {escape(chunk.kind)}' id=chunk-{chunk.order}>"
    yield f"<div class=place>{escape(describe_place(chunk))}</div>"
    if chunk.section_path:
        yield f"<div class=path>{escape(' › '.join(chunk.section_path))}</div>"
    if articles:
        yield f"<div class=path>{escape(describe_articles(articles))}</div>"
    if chunk.context:
        yield f"<div class=context>told before it: {escape(chunk.context)}</div>"
    yield f"<div class=text>{escape(show_figures(chunk.text))}</div>"
    yield f"<div class=bar><i style='width:{share}%'></i></div></div>"
