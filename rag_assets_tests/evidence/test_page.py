"""A pack as a page: each quote marked on its page of the source, or in its text."""

import re
from dataclasses import replace
from typing import Any

import pytest

from rag_assets.evidence import EvidencePack, Question, ask, make_pack, pictures
from rag_assets.evidence.pictures import Drawing, PagePictures, draw_in_worker
from rag_assets.evidence.rendering import render_page
from rag_assets.parsing import WorkerProcess
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import write_raw

QUESTION = Question(question="sedum roofs cooler in the street 树冠")


@pytest.fixture(scope="module")
def pack(library: Workspace) -> EvidencePack:
    return make_pack(library, QUESTION)


@pytest.fixture(scope="module")
def page(library: Workspace, pack: EvidencePack) -> str:
    return render_page(library, pack)


def article(page: str, pack: EvidencePack, uid: str) -> str:
    item = next(item for item in pack.items if item.doc_uid == uid)
    return page.split(f"<article id=item-{item.rank}>")[1].split("</article>", maxsplit=1)[0]


def test_page_needs_nothing_from_elsewhere_and_runs_nothing(page: str) -> None:
    assert not re.search(r"<script|<link|src='(?!data:)|url\(|https?://", page)


def test_quote_of_a_pdf_is_marked_on_its_picture(page: str, pack: EvidencePack) -> None:
    shown = article(page, pack, "roofs")
    assert "<img src='data:image/jpeg;base64," in shown
    assert re.search(r"<i style='left:[\d.]+%;top:[\d.]+%;width:[\d.]+%;height:[\d.]+%'>", shown)
    assert "page_box" in shown


def test_text_without_pages_is_shown_with_the_quote_marked(page: str, pack: EvidencePack) -> None:
    shown = article(page, pack, "树木")
    assert "<img" not in shown
    assert "<mark>树冠覆盖率最高的街道午后气温低1.8度。</mark>" in shown


def test_marks_lie_on_the_words_of_the_quote_alone(library: Workspace, pack: EvidencePack) -> None:
    whole = next(item for item in pack.items if "Sedum roofs" in item.exact_quote)
    start, end = (whole.exact_quote.index(words) for words in ("Sedum", " Rain"))
    place = whole.char_start
    assert place is not None
    item = replace(
        whole,
        exact_quote=whole.exact_quote[start:end],
        char_start=place + start,
        char_end=place + end,
    )
    source = next(source for source in pack.sources if source.doc_uid == "roofs")
    with PagePictures(library) as pictures:
        (picture,), why = pictures.draw(item, source)
    assert why is None
    # The sentence begins in the middle of the first line and ends within the second.
    first, second = sorted(picture.marks, key=lambda mark: mark[1])[:2]
    assert first[0] > 0.3
    assert second[0] < 0.2
    assert all(left >= 0 and left + width <= 1 for left, _, width, _ in picture.marks)


def test_page_that_is_drawn_twice_is_rendered_once(
    library: Workspace, pack: EvidencePack, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pymupdf

    rendered: list[int] = []
    draw = pymupdf.Page.get_pixmap

    def counted(self: Any, **options: Any) -> Any:
        rendered.append(self.number)
        return draw(self, **options)

    class Here:
        """Calls in this process, where drawing can be counted."""

        def call(self, _function: str, arguments: dict[str, Any]) -> Any:
            return draw_in_worker(**arguments)

        def close(self) -> None:
            """Have nothing to close."""

        is_alive = True

    monkeypatch.setattr(pymupdf.Page, "get_pixmap", counted)
    monkeypatch.setattr(Drawing, "start", lambda _: Here())
    item = next(item for item in pack.items if item.doc_uid == "roofs")
    source = next(source for source in pack.sources if source.doc_uid == "roofs")
    with PagePictures(library) as pictures:
        first, again = pictures.draw(item, source), pictures.draw(item, source)
    assert first == again
    assert len(rendered) == 1


@pytest.mark.parametrize(
    ("limits", "why"),
    [({"_SECONDS": 0.5}, "takes longer than 0.5 s"), ({"_MEGABYTES": 256}, "more than 256 MB")],
    ids=["time", "memory"],
)
def test_a_page_that_harms_is_refused_and_the_others_are_drawn(
    own: Workspace, monkeypatch: pytest.MonkeyPatch, limits: dict[str, float], why: str
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(pictures, name, value)
    pack = make_pack(own, QUESTION)
    source = next(source for source in pack.sources if source.doc_uid == "roofs")
    asked = (source.namespace, source.content_hash)
    harm = f"{__name__}:{'wait' if '_SECONDS' in limits else 'fill'}"
    drawing = Drawing(own)
    try:
        drawing.start().wait_until_ready()
        call = WorkerProcess.call
        monkeypatch.setattr(WorkerProcess, "call", lambda self, _, given: call(self, harm, given))
        assert why in drawing.draw(*asked, 1)
        monkeypatch.setattr(WorkerProcess, "call", call)
        monkeypatch.setattr(pictures, "_SECONDS", 60.0)
        assert why in drawing.draw(*asked, 1)  # remembered: it is not tried at every look
        assert (
            drawing.draw(*asked, 99)
            == "No picture: page 99 cannot be drawn (page 98 not in document)."
        )
    finally:
        drawing.close()


def wait(**_: object) -> None:
    """Draw without end."""
    while True:
        pass


def fill(**_: object) -> None:
    """Take all memory."""
    taken = []
    while True:
        taken.append(bytearray(10_000_000))


def test_file_that_was_changed_since_is_not_drawn_and_this_is_said(own: Workspace) -> None:
    pack = make_pack(own, QUESTION)
    write_raw(own, "evidence/roofs.pdf", b"%PDF-1.4 other bytes")
    shown = article(render_page(own, pack), pack, "roofs")
    assert "was changed or removed since it was read" in shown
    assert "<img" not in shown
    assert "<mark>" in shown


def test_markup_in_a_source_is_shown_and_not_read(library: Workspace, pack: EvidencePack) -> None:
    evil = "<script>alert(1)</script>"
    items = tuple(replace(item, exact_quote=evil, snippet=evil, boxes=()) for item in pack.items)
    page = render_page(library, replace(pack, question=evil, items=items))
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_page_stands_beside_its_pack_in_the_log_and_is_not_made_twice(own: Workspace) -> None:
    plain = ask(own, QUESTION)
    assert plain.html is None
    outcome = ask(own, QUESTION, html=True)
    assert outcome.html == outcome.markdown.with_suffix(".html")
    outcome.html.write_text("notes of my own", "utf-8")
    assert ask(own, QUESTION, html=True).html == outcome.html
    assert outcome.html.read_text("utf-8") == "notes of my own"
    log = (own.meta / "version_log.jsonl").read_text("utf-8").splitlines()
    assert len(log) == 2
    assert "outputs/evidence_pack_v001.html" in log[1]


def test_ui_links_to_the_page(own: Workspace) -> None:
    from rag_assets.defs.assets.questions import pack_metadata

    outcome = ask(own, QUESTION, html=True)
    shown = pack_metadata(own, outcome)
    assert outcome.html is not None
    assert shown["page in a browser"].value == outcome.html.as_uri()
    assert "page" not in pack_metadata(own, replace(outcome, html=None))


def test_a_picture_is_shown_by_its_name_in_page_and_pack(
    library: Workspace, pack: EvidencePack
) -> None:
    from rag_assets.evidence.rendering import render_pack

    reference = "![Figure 3](attachment:fig-003)"
    items = tuple(
        replace(
            item,
            snippet=f"{reference}\n\n{item.snippet}",
            parent_text=f"{item.parent_text}\n\n{reference}",
        )
        for item in pack.items
    )
    drawn = replace(pack, items=items)
    for page in (render_page(library, drawn), render_pack(drawn)):
        assert "attachment:" not in page
        assert "[Figure 3]" in page.replace("\\", "")
