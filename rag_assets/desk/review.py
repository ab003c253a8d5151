"""Drafts under review: their pages, and what a person decides on each citation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast  # values of templates
from urllib.parse import quote, urlencode

from fastapi import APIRouter, HTTPException, Request
from starlette.datastructures import UploadFile
from starlette.responses import FileResponse, RedirectResponse, Response

from rag_assets.desk.rendering import PART, page
from rag_assets.desk.state import Desk, DeskOf, FormOf, Job, text_of
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from starlette.datastructures import FormData

    from rag_assets.auditing import CitedDocument
    from rag_assets.auditing.record import Decision
    from rag_assets.auditing.reference_check import CheckedEntry, ReferenceCheck
    from rag_assets.auditing.reviewing import (
        Choice,
        CitedSource,
        Difference,
        Item,
        LaidDraft,
        Review,
    )
    from rag_assets.model import Progress

KEPT = ("show",)
"""What stands in the address of a page and is handed on by its links and forms."""
ORDER = "desk_order"
"""The cookie with the order in which a person goes through drafts: `text` or `urgency`."""
_NO_DOCUMENT = frozenset({
    "no_entry", "unsure_entry", "not_in_library", "unknown_uid", "ambiguous_uid",
})  # fmt: skip
# Characters of a passage before and behind what counts; its page is beside it.
_BEFORE, _BEHIND = 160, 400
_YEAR_SECONDS = 365 * 24 * 3600
_TONES = {"OK": "good", "WEAK": "weak", "MISSING": "bad", "ERROR": "bad"}
_WORST_FIRST = ("bad", "weak", "good")


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page of a source: `drawn` as `DrawnPages.draw` says, `boxes` marked on it."""

    namespace: str
    content_hash: str
    number: int
    drawn: Any
    boxes: list[Any]


class ReviewView:
    """What the templates ask for; made when it is asked, since most requests want one block."""

    def __init__(
        self,
        request: Request,
        desk: Desk,
        review: "Review",
        asked: Mapping[str, str] | None = None,
    ) -> None:
        from rag_assets.auditing.reviewing import differences

        # What is asked for, where that is not the query of the address.
        asked = request.query_params if asked is None else asked
        self._desk = desk
        self.is_list = _order_of(request) == "urgency"
        self.review = review = _ordered(request, review) or review
        self.name = review.name
        self.item = cast("Item", self.review.find(asked.get("item", "")) or self.review.first())
        self.was_asked = asked.get("item", "") in ("", self.item.key)
        self.panel = asked.get("panel", "")
        self.words = asked.get("words", "")
        self.said = asked.get("said", "")
        self.only_open = asked.get("show") == "open"
        # Drawing the first page takes seconds: the script fetches it behind the item.
        self.draws = bool(asked.get("picture"))
        self.kept = {name: asked[name] for name in KEPT if asked.get(name)}
        self.differences: list[Difference] = differences(self.item.row)
        self._chosen_id = asked.get("chosen", "")
        self.changed = review.find(asked.get("after", ""))

    def link(self, item: "Item | None" = None, **more: str) -> str:
        """Return the address of an item of this draft; `more` adds to or takes from the query."""
        key = (item or self.item).key
        query = {"item": key, **self.kept, **more}
        address = quote(f"/review/{self.name}")
        return f"{address}?{urlencode({n: v for n, v in query.items() if v})}"

    @property
    def place(self) -> int:
        """The number of the item among those of the draft, from 1."""
        return self.review.items.index(self.item) + 1

    @property
    def items(self) -> "list[Item]":
        """The items of the list: all, or those that are open and the one that is looked at."""
        return [
            one
            for one in self.review.items
            if not self.only_open or one.is_open or one is self.item
        ]

    @property
    def next(self) -> "Item | None":
        """The item behind this one."""
        return self._beside(1)

    @property
    def previous(self) -> "Item | None":
        """The item before this one."""
        return self._beside(-1)

    @property
    def next_open(self) -> "Item | None":
        """The next item that nobody has judged, from the beginning again at the end."""
        return self.review.beside(self.item.key, 1, only_open=True)

    def _beside(self, step: int) -> "Item | None":
        if not self.only_open:
            return self.review.beside(self.item.key, step)
        found = self.items
        place = found.index(self.item) + step
        return found[place] if 0 <= place < len(found) else None

    @cached_property
    def _keys(self) -> list[tuple[str, str]]:
        known = self._desk.citation_keys()
        uids = {(row.namespace or "", row.doc_uid) for row in self.review.audit.rows}
        return [(f"#{uid}", f"#{known[ns, uid][0]}") for ns, uid in uids if (ns, uid) in known]

    def shorten(self, text: str) -> str:
        """Return words of the draft with the keys of documents instead of their uids."""
        for uid, key in self._keys:
            text = text.replace(uid, key)
        return text

    @cached_property
    def is_stale(self) -> bool:
        """Whether the source, or what a person said is the source, is not what was judged."""
        if self.item.machine.reason_code in _NO_DOCUMENT and self.entry is not None:
            return self.entry.pairing.document is not None
        return self._desk.reviews.is_stale(self._desk.library, self.review, self.item)

    @property
    def is_pairing(self) -> bool:
        """Whether a document is to be named: it was asked for, or the citation means none."""
        return self.panel == "pair" or self.item.machine.reason_code in _NO_DOCUMENT

    @cached_property
    def entry(self) -> "CheckedEntry | None":
        """The entry of the reference list that the item cites; None where there is no one entry."""
        from rag_assets.auditing.library import show_entry

        said = self.item.machine.paired or self.item.machine.reason
        named = (one for one in self.references.entries if show_entry(one.entry) in said)
        found = {one.entry.text: one for one in named}
        return next(iter(found.values())) if len(found) == 1 else None

    @property
    def settles(self) -> str:
        """What a decision on the document is kept for; empty where the list needs an entry."""
        if self.entry is not None:
            return self.entry.entry.text
        cites = self.item.row.cites
        return cites if cites in self.references.without_entry else ""

    @property
    def candidates(self) -> list[tuple[str, str]]:
        """Documents that may be meant, as (namespace, uid), the likeliest first."""
        pairs = [uid.partition(":")[::2] for uid in self.item.machine.nearest_uids]
        return [pair for pair in pairs if pair in self._desk.citation_keys()]

    @property
    def documents(self) -> list[tuple[str, str]]:
        """Citation key and title of each document, to choose from."""
        return sorted(self._desk.citation_keys().values())

    @cached_property
    def laid(self) -> "LaidDraft":
        """The draft's own words."""
        from rag_assets.auditing.reviewing import lay_out_draft

        return lay_out_draft(self.review)

    @cached_property
    def document(self) -> "CitedDocument | None":
        """The document that the item cites."""
        return self._desk.reviews.document(self._desk.library, self.item)

    @cached_property
    def chosen(self) -> "Choice | None":
        """The passage that was chosen in place of the one that the machine judged by."""
        from rag_assets.auditing.reviewing import find_choice

        if not self._chosen_id or self.document is None:
            return None
        return find_choice(self.document, self._chosen_id)

    @cached_property
    def choices(self) -> "tuple[list[Choice], int]":
        """Other passages of the document, and how many there are."""
        from rag_assets.auditing.reviewing import choices_of

        if self.document is None:
            return [], 0
        return choices_of(self.document, self.item.row, self.words)

    @property
    def parts(self) -> tuple[str, str, str]:
        """The passage, the words that count between the others, of which as many as fit."""
        from rag_assets.auditing.reviewing import shown_parts

        before, marked, after = shown_parts(self.item, self.chosen)
        if len(before) > _BEFORE:
            before = f"…{before[-_BEFORE:]}"
        return before, marked, f"{after[:_BEHIND]}…" if len(after) > _BEHIND else after

    @property
    def marked(self) -> list[tuple[str, bool]]:
        """The sentence in pieces, each with whether the source does not say it."""
        from rag_assets.auditing.reviewing import marked_sentence

        return marked_sentence(self.item.row)

    @property
    def locator(self) -> str:
        """Where the passage stands."""
        return self.chosen.locator if self.chosen else self.item.row.locator or ""

    @cached_property
    def pictures(self) -> list[ShownPage]:
        """The pages of the passage with what is marked on them; empty without pages."""
        row = self.item.machine
        boxes = self.chosen.boxes if self.chosen else row.boxes
        if row.namespace is None or row.content_version is None:
            return []
        return [
            ShownPage(row.namespace, row.content_version, number,
                  self._desk.pages.draw(row.namespace, row.content_version, number),
                  [box for box in boxes if box.page == number])
            for number in sorted({box.page for box in boxes})
        ]  # fmt: skip

    @property
    def has_pages(self) -> bool:
        """Whether there is a page to be drawn."""
        boxes = self.chosen.boxes if self.chosen else self.item.machine.boxes
        return bool(boxes)

    @property
    def sentence(self) -> str:
        """The sentence as it stands in the file."""
        row = self.item.row
        return self.review.draft.text[row.sentence_start : row.sentence_end]

    @property
    def can_edit(self) -> bool:
        """Whether the draft is a file of text."""
        return not self.name.lower().endswith((".docx", ".odt", ".rtf", ".tex"))

    @property
    def sources(self) -> "list[CitedSource]":
        """The documents that the draft cites, in the order of citing."""
        from rag_assets.auditing.reviewing import cited_sources

        return cited_sources(self.review.audit)

    @cached_property
    def references(self) -> "ReferenceCheck":
        """The reference list, each entry with the document that it means."""
        from rag_assets.auditing.reference_check import check_references

        return check_references(self._desk.library, self._desk.reviews.path(self.name))

    @property
    def without_document(self) -> int:
        """How many citations mean no document, as far as the reference list goes."""
        return sum(one.machine.reason_code in _NO_DOCUMENT for one in self.review.items)

    def sentence_of(self, item: "Item") -> int:
        """Return the number of the sentence of an item, from 0."""
        starts = sorted({one.row.sentence_start for one in self.review.items})
        return starts.index(item.row.sentence_start)

    def tone(self, items: "tuple[Item, ...]") -> str:
        """Return the tone of a sentence: that of its worst citation."""
        return min((_TONES[item.row.status] for item in items), key=_WORST_FIRST.index)

    def beside_it(self, item: "Item") -> "tuple[Item, ...]":
        """Return the items of the sentence of an item, in order of urgency."""
        start = item.row.sentence_start
        return tuple(one for one in self.review.items if one.row.sentence_start == start)


router = APIRouter()
# Of many documents, every so many are said.
_SAID_EVERY = 25


@router.get("/review")
def list_drafts(request: Request, desk: DeskOf) -> Response:
    """Show all drafts with what their newest audits found."""
    return page(request, "review_drafts.html", drafts=desk.reviews.summaries())


@router.post("/review")
def add(desk: DeskOf, form: FormOf) -> Response:
    """Put dropped files into drafts/ and begin to check the first of them."""
    from rag_assets.auditing.receiving import add_drafts

    files = [each for each in form.getlist("file") if isinstance(each, UploadFile)]
    said: list[str] = []
    names = [
        name
        for each in files
        if each.filename
        for name in add_drafts(desk.workspace, each.filename, each.file.read(), said.append)
    ]
    if not names:
        raise UsageError("no draft was chosen. Choose a .md, .txt, .docx, .tex or .zip file.")
    return _work(desk, names[0], "check", said=said)


@router.get("/review/{name:path}")
def show(request: Request, desk: DeskOf, name: str) -> Response:
    """Show a draft and one of its items; what was not checked yet offers to be."""
    review = desk.reviews.open(name)
    if request.query_params.get("get") == "report":
        return _report(desk, review)
    if review is None or not review.items:
        return page(request, "review_unchecked.html", name=name, review=review)
    shown = page(request, "review.html", view=ReviewView(request, desk, review))
    shown.set_cookie(ORDER, _order_of(request), max_age=_YEAR_SECONDS, samesite="strict")
    return shown


def _order_of(request: Request) -> str:
    given = request.query_params.get("order") or request.cookies.get(ORDER)
    return "text" if given == "text" else "urgency"


def _ordered(request: Request, review: "Review | None") -> "Review | None":
    is_text = review is not None and _order_of(request) == "text"
    return review.in_text_order() if review is not None and is_text else review


@router.post("/review/{name:path}")
def act(request: Request, desk: DeskOf, name: str, form: FormOf) -> Response:
    """Check a draft, judge an item, replace a sentence, or take sources and report along."""
    action = text_of(form, "task")
    if action == "judge":
        return _judge(request, desk, name, form)
    if action == "edit":
        return _edit(desk, name, form)
    if action == "sources":
        return _sources(desk, name, form)
    if action == "settle":
        return _settle(request, desk, name, form)
    if action in ("check", "keep"):
        return _work(desk, name, action, text_of(form, "item"))
    raise UsageError(
        f"'task' must be judge, edit, settle, check, sources or keep, got {action[:20]!r}."
    )


def _judge(request: Request, desk: Desk, name: str, form: "FormData") -> Response:
    key = text_of(form, "item")
    decision = cast("Decision", text_of(form, "decision"))
    _require_decision(decision)
    desk.reviews.judge(
        desk.library,
        name,
        key,
        decision,
        by=desk.person,
        at=desk.now(),
        seen=_number(text_of(form, "seen")),
        version=text_of(form, "version"),
        comment=text_of(form, "comment"),
        chosen=text_of(form, "chosen"),
    )
    review = _ordered(request, desk.reviews.open(name))
    following = review.beside(key, 1, only_open=True) if review and review.find(key) else None
    # What was taken back is looked at again; else what comes next is.
    there = key if decision == "withdrawn" or following is None else following.key
    if review is None or request.headers.get(PART) != "item":
        return _back(name, form, item=there, after=key)
    # Who asks for the block alone has it with this answer: one way less for each of hundreds.
    asked = {each: text_of(form, each) for each in KEPT} | {"item": there, "after": key}
    return page(request, "review.html", view=ReviewView(request, desk, review, asked))


def _edit(desk: Desk, name: str, form: "FormData") -> Response:
    from rag_assets.auditing.reviewing import SentenceEdit

    edit = SentenceEdit(
        digest=text_of(form, "digest"),
        start=_number(text_of(form, "start")),
        end=_number(text_of(form, "end")),
        before=_as_in_file(desk, name, form),
        after=text_of(form, "after"),
    )
    _, item = desk.reviews.edit(desk.library, name, edit, by=desk.person, at=desk.now())
    return _back(name, form, item=item.key if item else "", said="edited")


def _settle(request: Request, desk: Desk, name: str, form: "FormData") -> Response:
    from rag_assets.auditing.reference_check import settle_reference

    before, key = _ordered(request, desk.reviews.open(name)), text_of(form, "item")
    settle_reference(
        desk.library, desk.reviews.path(name), text_of(form, "entry"),
        text_of(form, "document") or _named(desk, text_of(form, "chosen")),
        by=desk.person, at=desk.now().astimezone().isoformat(timespec="seconds"),
    )  # fmt: skip
    # What the citation means now is judged; others keep their verdicts.
    review = desk.reviews.check(desk.library, name, as_of=desk.today())
    item = before.find(key) if before is not None else None
    if before is None or item is None:
        return _back(name, form, panel="references", said="settled")
    # It means another document, and is known by another key.
    there = _key_now(review, item)
    # Of those that need a document the next one is shown, as after a judgement.
    left = [one for one in before.items if one.machine.reason_code in _NO_DOCUMENT]
    goes_on = item in left and text_of(form, "document") != "open"
    following = [one.key for one in left[left.index(item) + 1 :]] if goes_on else []
    shown = next((key for key in following if review.find(key)), there)
    return _back(name, form, item=shown, after=there, said="settled")


def _key_now(review: "Review", item: "Item") -> str:
    """Return the key of what is in an item's place, which may mean another document now."""
    number = item.row.number
    return next((one.key for one in review.items if one.row.number == number), "")


def _named(desk: Desk, typed: str) -> str:
    """Return the citation key that was typed, or whose key or title holds what was typed."""
    known, folded = desk.citation_keys().values(), typed.casefold().strip()
    found = {key for key, _ in known if key == typed.strip()} or {
        key for key, title in known if folded in f"{key} {title or ''}".casefold()
    }
    if not folded or len(found) != 1:
        raise UsageError(
            f"'{typed}' fits {len(found) if folded else 'no'} documents. Go back, and choose one "
            "from the list of the field."
        )
    return found.pop()


def _as_in_file(desk: Desk, name: str, form: "FormData") -> str:
    """Return the sentence with the line ends of the draft, which forms do not keep."""
    review = desk.reviews.open(name)
    start, end = _number(text_of(form, "start")), _number(text_of(form, "end"))
    if review is None or review.draft.digest != text_of(form, "digest"):
        return text_of(form, "before")
    return review.draft.text[start:end]


def _sources(desk: Desk, name: str, form: "FormData") -> Response:
    from rag_assets.auditing.reviewing import export_standing

    review = desk.reviews.open(name)
    if review is None or review.is_edited:
        raise UsageError(f"{name} was edited and not checked since: check it first.")
    made = export_standing(desk.workspace, review)
    files = ", ".join(
        path.relative_to(desk.workspace.root).as_posix() for path in made.files.values()
    )
    return _back(name, form, item=text_of(form, "item"), panel="sources", said=files)


def _work(desk: Desk, name: str, action: str, item: str = "", said: Sequence[str] = ()) -> Response:
    before = desk.reviews.open(name)
    address, looked_at = quote(f"/review/{name}"), before.find(item) if before else None

    def check(job: Job) -> str:
        from rag_assets.running import record_audit

        for sentence in said:
            job.tell(sentence)
        outcome = desk.reviews.keep(
            desk.library, name, as_of=desk.today(), notify=job.tell, on_progress=_progress(job)
        )
        record_audit(desk.workspace, outcome)
        if action == "check":
            review = desk.reviews.open(name)
            if looked_at is None or review is None:
                return address
            key = looked_at.key if review.find(looked_at.key) else _key_now(review, looked_at)
            return f"{address}?{urlencode({'item': key})}"
        return f"{address}?{urlencode({'panel': 'sources', 'said': outcome.html.name})}"

    job = desk.jobs.start(f"{action} {name}", check)
    return RedirectResponse(f"/work/{job.key}", 303)


def _progress(job: Job) -> "Progress":
    def tell(what: str, done: int, total: int) -> None:
        if done == total or done % _SAID_EVERY == 0:
            job.tell(f"{what}: {done} / {total}")

    return tell


def _report(desk: Desk, review: "Review | None") -> Response:
    from rag_assets.auditing.reviewing import kept_report

    path = kept_report(desk.workspace, review) if review is not None else None
    if path is None or not path.is_file():
        raise HTTPException(404, "No report of the present text is kept: keep one first.")
    # Handed over as a file: its own style would be refused on a page of the desk.
    return FileResponse(path, media_type="text/html", filename=path.name)


def _back(name: str, form: "FormData", **query: str) -> Response:
    kept = {each: text_of(form, each) for each in KEPT}
    told = urlencode({n: v for n, v in (kept | query).items() if v})
    return RedirectResponse(f"{quote(f'/review/{name}')}?{told}", 303)


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise UsageError(f"a number was expected, got {text[:20]!r}: load the page again.")
    return int(text)


def _require_decision(given: str) -> None:
    from rag_assets.auditing.judgements import DECISIONS

    if given not in DECISIONS:
        raise UsageError(f"'decision' must be one of {', '.join(DECISIONS)}, got {given[:20]!r}.")
