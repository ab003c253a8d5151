"""A person's review of drafts: items to look at, judgements, edits, what comes out."""

import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.auditing import (
    CITATIONS,
    AuditOutcome,
    CitationAudit,
    CitationVerdict,
    CitedDocument,
    Draft,
    Passage,
    audit_citations,
    judge_draft,
    list_drafts,
    open_published,
    read_draft,
    urgency,
)
from rag_assets.auditing.draft import draft_bytes
from rag_assets.auditing.judgements import (
    ChosenPassage,
    Judgement,
    Judgements,
    append_judgement,
    citation_of,
    confirm,
    join_judgement,
    judge_row,
    judgements_of,
    version_of,
    without_judgements,
)
from rag_assets.auditing.library import digest_document, statute_of_label
from rag_assets.auditing.pages import LaidBlock, Span, lay_out, part_passage
from rag_assets.auditing.record import Decision
from rag_assets.auditing.reviewing.editing import SentenceEdit, replace_sentence
from rag_assets.evidence.bibliography import ExportedSources, export_references
from rag_assets.evidence.locating import locate
from rag_assets.model import (
    ChangedMeanwhileError,
    PageBox,
    Progress,
    UsageError,
    count_of,
    hash_bytes,
    hash_fields,
    show_figures,
)
from rag_assets.retrieval import Asked
from rag_assets.storage import (
    Notify,
    find_versions,
    read_json,
    read_pointer,
)
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.judging import Sign

# The citations of a draft as items to look at, in the order in which they need eyes.

_KEY_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Item:
    """One citation of one sentence.

    Args:
        key: of the sentence's words and what it cites; stays when other sentences are edited. The
            second of the same words and document ends in `-2`.
        row: with what a person has decided; `machine` without.
        seen: number of the last judgement on it, 0 for none.
    """

    key: str
    row: CitationVerdict
    machine: CitationVerdict
    seen: int

    @property
    def is_open(self) -> bool:
        """Whether no judgement of a person holds; that of an AI agent waits for one."""
        return self.row.person is None or self.row.person.is_agent

    @property
    def version(self) -> str:
        """The content of the source that it was judged on."""
        return version_of(self.machine)


@dataclass(frozen=True)
class Review:
    """The items of one revision of a draft.

    Args:
        name: path of the draft below drafts/.
        audit: with what people have decided.
        items: what needs eyes first; a judgement moves none, so that who looks knows the place.
        is_current: whether what is published now is what was judged.
        is_edited: whether the file was edited since; `draft` is what was judged.
        lost: numbers of the judgements made on sentences that the draft does not hold any more.
    """

    name: str
    draft: Draft
    audit: CitationAudit
    items: tuple[Item, ...]
    is_current: bool = True
    lost: tuple[int, ...] = ()
    is_edited: bool = False

    def in_text_order(self) -> "Review":
        """Return it with its items in the order of the draft."""
        return replace(self, items=tuple(sorted(self.items, key=lambda item: item.row.number)))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {item.key: place for place, item in enumerate(self.items)}

    @cached_property
    def open_count(self) -> int:
        """How many are open."""
        return sum(item.is_open for item in self.items)

    def find(self, key: str) -> Item | None:
        """Return the item of a key, None where the draft has none (any more)."""
        place = self._places.get(key)
        return None if place is None else self.items[place]

    def beside(self, key: str, step: int, *, only_open: bool = False) -> Item | None:
        """Return the next item (`step` 1) or the one before (-1), None at the end.

        Args:
            only_open: pass over what was judged, and begin again at the other end.
        """
        place = self._places[key]
        if not only_open:
            there = place + step
            return self.items[there] if 0 <= there < len(self.items) else None
        count = len(self.items)
        turned = (self.items[(place + step * n) % count] for n in range(1, count))
        return next((item for item in turned if item.is_open), None)

    def first(self) -> Item | None:
        """Return the first open item, else the first of all; None where nothing is cited."""
        return next((item for item in self.items if item.is_open), None) or next(
            iter(self.items), None
        )

    def at(self, start: int, end: int) -> Item | None:
        """Return the first item of the sentence that stands at a span of the draft's text."""
        found = [
            item
            for item in self.items
            if item.row.sentence_start < end and start < item.row.sentence_end
        ]
        return min(found, key=lambda item: item.row.number, default=None)


def make_review(
    name: str,
    draft: Draft,
    audit: CitationAudit,
    judgements: Judgements,
    *,
    is_current: bool = True,
    before: Review | None = None,
) -> Review:
    """Return a draft's items.

    Args:
        audit: of this draft, joined with judgements or not.
        judgements: what people have decided so far.
        before: a review of the same audit with earlier judgements; items that nobody has judged
            since are taken from it.
    """
    known = before.items if before is not None else _machine_items(audit)
    lost = judgements.lost(draft.name, {citation_of(item.machine) for item in known})
    marks = tuple(one.number for one in lost)
    items = tuple(
        item
        if before is not None and before.lost == marks and item.seen == _last(item, judgements)
        else replace(
            item,
            row=join_judgement(item.machine, judgements, lost, draft),
            seen=_last(item, judgements),
        )
        for item in known
    )
    rows = tuple(sorted((item.row for item in items), key=lambda row: row.number))
    return Review(name, draft, replace(audit, rows=rows), items, is_current, marks)


def _machine_items(audit: CitationAudit) -> tuple[Item, ...]:
    """Return the items of an audit without judgements, what needs eyes first."""
    rows = without_judgements(audit.rows)
    items = [Item(key, row, row, 0) for key, row in zip(_keys(rows), rows, strict=True)]
    return tuple(sorted(items, key=lambda item: (urgency(item.machine), item.row.number)))


def _keys(rows: Sequence[CitationVerdict]) -> list[str]:
    seen: Counter[str] = Counter()
    keys = []
    for row in rows:
        key = hash_fields(citation_of(row))[:_KEY_DIGITS]
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key}-{seen[key]}")
    return keys


def _last(item: Item, judgements: Judgements) -> int:
    last = judgements.last.get(citation_of(item.machine))
    return last.number if last is not None else 0


# What a page shows of an item: what differs, the evidence, other passages to choose from.
# A document can have thousands of passages; a word finds one among more.
_MOST_CHOICES = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """Something of the sentence that can be checked with one's own eyes.

    Args:
        speaks: for the sentence, or against it.
        kind: number, unit, name, quotation …, as scorers name it.
        claim: as it stands in the sentence; `source` in the source; either may be empty.
        text: a sentence on it.
    """

    speaks: Literal["for", "against"]
    kind: str
    claim: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A passage of the cited document.

    Args:
        locator: where it stands, as shown.
        is_shown: whether the machine judged by it.
    """

    chunk_id: str
    locator: str
    text: str
    is_shown: bool
    boxes: tuple[PageBox, ...]


@dataclass(frozen=True, slots=True)
class LaidDraft:
    """A draft as a page shows it.

    Args:
        blocks: its own words in order; a piece's `note` is the index of a sentence.
        sentences: the items of each cited sentence, in the order of the draft.
    """

    blocks: list[LaidBlock]
    sentences: tuple[tuple[Item, ...], ...]


def differences(row: CitationVerdict) -> list[Difference]:
    """Return what speaks against a sentence and then what speaks for it, each once."""
    signs: list[tuple[Literal["for", "against"], Sequence[Sign]]] = [
        ("against", row.speaks_against),
        ("for", row.speaks_for),
    ]
    found = [
        Difference(speaks, sign.kind, sign.claim, show_figures(sign.source), sign.text)
        for speaks, some in signs
        for sign in some
    ]
    return list(dict.fromkeys(found))


def marked_sentence(row: CitationVerdict) -> list[tuple[str, bool]]:
    """Return a sentence in pieces, each with whether it is what the source does not say.

    Those are the words of what speaks against it (numbers, words without support) and of quotations
    that are printed otherwise, where they stand in the sentence as they are.
    """
    told = [sign.claim for sign in row.speaks_against]
    told += [ours for check in row.quotations for ours, _ in check.changes]
    spans = []
    for words in filter(str.strip, told):
        # As words of their own: the 5 of “5 %” is not that of 58.3.
        ends = (r"(?<![\w.,])", r"(?![\w]|[.,]\d)") if words.isascii() else ("", "")
        spans += [m.span() for m in re.finditer(ends[0] + re.escape(words) + ends[1], row.sentence)]
    pieces: list[tuple[str, bool]] = []
    place = 0
    for start, end in sorted(set(spans)):
        if start < place:
            continue
        pieces += [(row.sentence[place:start], False), (row.sentence[start:end], True)]
        place = end
    return [piece for piece in (*pieces, (row.sentence[place:], False)) if piece[0]]


def shown_parts(item: Item, choice: Choice | None = None) -> tuple[str, str, str]:
    """Return the passage that is looked at, in three parts; the one between is marked.

    Args:
        choice: a passage in place of the machine's; it is marked as a whole.
    """
    if choice is not None:
        return "", show_figures(choice.text), ""
    before, marked, after = part_passage(item.row.passage or "", item.row.quote)
    return show_figures(before), show_figures(marked), show_figures(after)


def choices_of(
    document: CitedDocument, row: CitationVerdict, words: str = ""
) -> tuple[list[Choice], int]:
    """Return passages of a document to choose from, and how many there are of them in all.

    Those that the machine judged by come first, then the rest in the order of the document.

    Args:
        words: only passages that hold each of them, in whatever case.
    """
    shown = {chunk for window in row.passages for chunk in window.chunk_ids}
    asked = words.casefold().split()
    found = [
        Choice(
            one.chunk_id,
            place_of(one, document.page_labels),
            one.text,
            one.chunk_id in shown,
            one.boxes,
        )
        for one in document.passages
        if all(word in one.text.casefold() for word in asked)
    ]
    found.sort(key=lambda choice: not choice.is_shown)
    return found[:_MOST_CHOICES], len(found)


def find_choice(document: CitedDocument, chunk_id: str) -> Choice | None:
    """Return one passage of a document, None where it has none of this id."""
    for one in document.passages:
        if one.chunk_id == chunk_id:
            place = place_of(one, document.page_labels)
            return Choice(chunk_id, place, one.text, False, one.boxes)
    return None


def place_of(passage: Passage, labels: Sequence[str]) -> str:
    """Return where a passage stands, as it is shown; its id where nobody could look it up.

    Args:
        labels: the numbers that the pages of its document bear in print.
    """
    found = locate(
        passage.page_start, passage.page_end, passage.char_start, passage.char_end,
        passage.section_path, has_boxes=bool(passage.boxes), labels=labels,
    )  # fmt: skip
    return found.text if found is not None else passage.chunk_id


def lay_out_draft(review: Review) -> LaidDraft:
    """Return a draft's words with its cited sentences, each with its items in order of urgency."""
    by_place: dict[int, list[Item]] = {}
    for item in review.items:
        by_place.setdefault(item.row.sentence_start, []).append(item)
    ordered = [tuple(by_place[start]) for start in sorted(by_place)]
    spans = [
        Span(items[0].row.sentence_start, items[0].row.sentence_end, number)
        for number, items in enumerate(ordered)
    ]
    return LaidDraft(lay_out(review.draft, spans), tuple(ordered))


# What comes out of a review: the list of sources that stand, and the report.

Standing = Literal["stands", "open", "falls", "uncited"]


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A document that a draft cites.

    Args:
        namespace: None where the citation means no document.
        standing: stands where one of its citations is OK; open where none is and one is WEAK; falls
            where all are MISSING or ERROR; uncited where it stands in the list of sources alone.
        lines: of the draft that cite it.
        places: in the document, of the citations that are OK, as they are named.
    """

    namespace: str | None
    doc_uid: str
    title: str | None
    standing: Standing
    lines: tuple[int, ...]
    places: tuple[str, ...]


def cited_sources(audit: CitationAudit) -> list[CitedSource]:
    """Return the documents that a draft cites in the order in which it cites them."""
    rows: dict[tuple[str | None, str], list[int]] = {}
    for place, row in enumerate(audit.rows):
        rows.setdefault((row.namespace, row.doc_uid), []).append(place)
    found = []
    for (namespace, uid), places in rows.items():
        own = [audit.rows[place] for place in places]
        statuses = {row.status for row in own}
        standing: Standing = (
            "stands" if "OK" in statuses else "open" if "WEAK" in statuses else "falls"
        )
        named = dict.fromkeys(row.hint for row in own if row.status == "OK" and row.hint)
        lines = dict.fromkeys(row.line for row in own)
        title = next((row.title for row in own if row.title), None)
        found.append(CitedSource(namespace, uid, title, standing, tuple(lines), tuple(named)))
    listed = (
        CitedSource(one.namespace, one.doc_uid, one.title, "uncited", (one.line,), ())
        for one in audit.listed
        if (one.namespace, one.doc_uid) not in rows
    )
    return [*found, *listed]


def export_standing(
    workspace: Workspace, review: Review, notify: Notify = lambda sentence: None
) -> ExportedSources:
    """Write the references of the sources that stand, in the order of citing.

    Raises:
        UsageError: none stands, or a document is not known any more.
    """
    sources = cited_sources(review.audit)
    pairs = [
        ((one.namespace, one.doc_uid), place)
        for one in sources
        if one.standing == "stands" and one.namespace is not None
        for place in one.places or ("",)
    ]
    notes = list(_left_out(sources))
    if not pairs:
        raise UsageError(
            f"{review.name}: no source stands yet. {' '.join(notes) or 'It cites nothing.'}"
        )
    return export_references(workspace, review.draft.name, pairs, notes=notes, notify=notify)


def kept_report(workspace: Workspace, review: Review) -> Path | None:
    """Return the newest stored page of a draft's present content, None where there is none."""
    return CITATIONS.newest_file(workspace, workspace.drafts / review.name, ".html")


def _left_out(sources: list[CitedSource]) -> Iterator[str]:
    why = {
        "open": "left out, since no citation of it is OK yet",
        "falls": "left out, since no citation of it holds",
        "uncited": "left out, since only the list of sources names it",
    }
    for one in sources:
        if one.standing in why:
            lines = ", ".join(map(str, one.lines))
            noun = count_of(len(one.lines), "line").split(" ", 1)[1]
            yield f"`{one.doc_uid}` ({noun} {lines}) is {why[one.standing]}."


# The reviews of a workspace: opened, judged, edited; what was read last is kept.

# Documents whose passages are kept to choose from.
_MOST_DOCUMENTS = 16
_Stamp = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class DraftSummary:
    """A draft in the list of all.

    Args:
        name: path below drafts/.
        counts: of its newest audit, by status, with what people decided; empty where it was never
            checked.
        is_edited: whether the draft was edited since.
        is_outdated: whether the library was published again since.
        open: how many citations no person has judged.
    """

    name: str
    counts: dict[str, int]
    is_edited: bool = False
    is_outdated: bool = False
    open: int = 0

    @property
    def attention(self) -> int:
        """How many citations need attention."""
        return sum(self.counts.values()) - self.counts.get("OK", 0)


class Reviews:
    """The drafts of a workspace under review. Several threads may ask.

    Args:
        workspace: whose drafts, audits and judgements are read.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.RLock()
        self._audits: dict[str, tuple[Draft, CitationAudit]] = {}
        self._reviews: dict[str, tuple[CitationAudit, object, Review]] = {}
        self._pointers: dict[str, Path] = {}
        self._judgements: tuple[_Stamp, Judgements] = (None, Judgements())
        self._documents: dict[tuple[str, str, str], CitedDocument] = {}

    def names(self) -> list[str]:
        """Return the drafts by their paths below drafts/, sorted."""
        folder = self._workspace.drafts
        return [path.relative_to(folder).as_posix() for path in list_drafts(self._workspace)]

    def summaries(self) -> list[DraftSummary]:
        """Return all drafts with the counts of their newest audits."""
        return [self._summary(name) for name in self.names()]

    def path(self, name: str) -> Path:
        """Return the file of a draft.

        Raises:
            UsageError: drafts/ has no draft of this name; no other path is ever read.
        """
        if name not in self.names():
            raise UsageError(f"drafts/ has no draft '{name}'. `rag desk` lists those that it has.")
        return self._workspace.drafts / name

    def open(self, name: str) -> Review | None:
        """Return a draft's review; None where it was not checked yet.

        Of a draft that was edited since, it is that of the content that was judged last.

        Raises:
            UsageError: there is no such draft, or it cannot be read.
            DamagedFileError: the journal of judgements or an audit is not what was written.
        """
        path = self.path(name)
        digest = hash_bytes(draft_bytes(path))
        with self._lock:
            known = self._audits.get(name)
            if known is None or known[1].draft_digest != digest:
                stored = CITATIONS.newest(self._workspace, path)
                if stored is not None:
                    known = self._audits[name] = (read_draft(path), stored)
            if known is None:
                return None
            review = self._made(name, *known)
            is_edited = known[1].draft_digest != digest
            return replace(review, is_edited=True) if is_edited else review

    def check(
        self,
        asked: Asked,
        name: str,
        *,
        as_of: date,
        notify: Notify = lambda sentence: None,
        on_progress: Progress | None = None,
    ) -> Review:
        """Judge the present content of a draft and return its review.

        What was judged before is not judged again; no audit is stored.

        Raises:
            UsageError, PublicationError: as `audit_citations`.
        """
        draft = read_draft(self.path(name))
        audit = judge_draft(asked, draft, as_of=as_of, notify=notify, on_progress=on_progress)
        with self._lock:
            self._audits[name] = (draft, audit)
            return self._made(name, draft, audit)

    def keep(
        self,
        asked: Asked,
        name: str,
        *,
        as_of: date,
        notify: Notify = lambda sentence: None,
        on_progress: Progress | None = None,
    ) -> AuditOutcome[CitationAudit]:
        """Judge as `check` does, and store the audit with what people have decided.

        Raises:
            UsageError, PublicationError, StorageError: as `audit_citations`.
        """
        path = self.path(name)
        outcome = audit_citations(asked, path, as_of=as_of, notify=notify, on_progress=on_progress)
        draft = read_draft(path)
        with self._lock:
            if draft.digest == outcome.audit.draft_digest:
                self._audits[name] = (draft, outcome.audit)
        return outcome

    def judge(
        self,
        asked: Asked,
        name: str,
        key: str,
        decision: Decision,
        *,
        by: str,
        at: datetime,
        seen: int,
        version: str,
        comment: str = "",
        chosen: str = "",
    ) -> Judgement:
        """Keep what a person has decided on an item.

        Args:
            seen: number of the last judgement on it that the person has seen, 0 for none.
            version: of the source's content that the person has seen.
            chosen: id of another chunk of the source; empty for the passage that was shown.

        Raises:
            ChangedMeanwhileError: sentence, source or judgement are not what was seen; nothing was
                kept.
            UsageError: the decision does not fit, or the document has no such chunk.
        """
        review = self.open(name)
        item = review.find(key) if review is not None else None
        if item is not None and review is not None and review.is_edited:
            # What else was edited does not matter, nor do line ends and spaces.
            present = " ".join(read_draft(self.path(name)).text.split())
            item = item if " ".join(item.row.sentence.split()) in present else None
        if review is None or item is None:
            raise ChangedMeanwhileError(
                f"{name} was edited since this page was loaded, and does not hold this sentence "
                "with this citation any more. Nothing was kept: load the page again."
            )
        if item.version != version:
            said = "has changed since this page was loaded. Nothing was kept: look at it now."
            raise ChangedMeanwhileError(f"`{item.row.doc_uid}` {said}")
        decision, rests_on = confirm(
            decision, self._judgements[1].latest.get(citation_of(item.row))
        )
        judgement = judge_row(
            item.machine,
            decision,
            by=by,
            at=at.astimezone().isoformat(timespec="seconds"),
            draft=review.draft.name,
            draft_digest=review.draft.digest,
            text=review.draft.text,
            comment=comment,
            chosen=self._chosen(asked, item, chosen) if chosen else rests_on,
        )
        return append_judgement(self._workspace, judgement, seen=seen)

    def edit(
        self,
        asked: Asked,
        name: str,
        edit: SentenceEdit,
        *,
        by: str,
        at: datetime,
        notify: Notify = lambda sentence: None,
    ) -> tuple[Review, Item | None]:
        """Replace a sentence of a draft, judge it again, and return the review and its first item.

        Raises:
            ChangedMeanwhileError, UsageError, StorageError: as `replace_sentence`.
            PublicationError: the sentence stands in the file, and nothing is published to judge it.
        """
        path = self.path(name)
        replace_sentence(self._workspace, path, edit, by=by, at=at, notify=notify)
        review = self.check(asked, name, as_of=at.date(), notify=notify)
        return review, review.at(edit.start, edit.start + max(1, len(edit.after.strip())))

    def document(self, asked: Asked, item: Item) -> CitedDocument | None:
        """Return the document of an item with its passages; None where it means none (any more)."""
        row = item.row
        if row.namespace is None:
            return None
        pointer = read_pointer(self._workspace.namespace(row.namespace).publications)
        key = (row.namespace, row.doc_uid, pointer.current if pointer is not None else "")
        with self._lock:
            if key in self._documents:
                return self._documents[key]
        with open_published(asked) as library:
            found = library.find(row.doc_uid, row.namespace)
            if not found or found[0].withheld_reason is not None:
                return None
            document = library.load(found[0])
        with self._lock:
            self._documents[key] = document
            while len(self._documents) > _MOST_DOCUMENTS:
                del self._documents[next(iter(self._documents))]
        return document

    def is_stale(self, asked: Asked, review: Review, item: Item) -> bool:
        """Say whether the document of an item is not any more what was judged."""
        if review.is_current or item.row.namespace is None:
            return False
        document = self.document(asked, item)
        if document is None or document.content_version != item.machine.content_version:
            return True
        is_cut = statute_of_label(item.row.cites) is not None
        return not is_cut and digest_document(document) != item.machine.text_digest

    def _chosen(self, asked: Asked, item: Item, chunk_id: str) -> ChosenPassage:
        document = self.document(asked, item)
        found = find_choice(document, chunk_id) if document is not None else None
        if found is None:
            raise UsageError(f"`{item.row.doc_uid}` has no passage '{chunk_id}'. Choose another.")
        return ChosenPassage(found.text, found.locator, chunk_id)

    def _made(self, name: str, draft: Draft, audit: CitationAudit) -> Review:
        """Return the review of an audit with the judgements of now; the last one where it holds."""
        path = self._workspace.judgement_journal
        stamp = _stamp(path)
        if stamp != self._judgements[0] or stamp is None:
            self._judgements = (stamp, judgements_of(self._workspace))
        is_current = self._is_current(audit)
        mark = (stamp, is_current)
        last = self._reviews.get(name)
        if last is None or last[0] is not audit or last[1] != mark:
            made = make_review(
                name,
                draft,
                audit,
                self._judgements[1],
                is_current=is_current,
                before=last[2] if last is not None and last[0] is audit else None,
            )
            last = self._reviews[name] = (audit, mark, made)
        return last[2]

    def _is_current(self, audit: CitationAudit) -> bool:
        for name, publication in audit.publications.items():
            if name not in self._pointers:
                # Of a namespace that is not declared any more nothing is published.
                if name not in self._workspace.namespace_names:
                    return False
                self._pointers[name] = self._workspace.namespace(name).publications
            pointer = read_pointer(self._pointers[name])
            if pointer is None or pointer.current != publication:
                return False
        return True

    def _summary(self, name: str) -> DraftSummary:
        try:
            review = self.open(name)
        except UsageError:  # it cannot be read; its own page says why
            review = None
        if review is not None:
            counts = Counter(str(item.row.status) for item in review.items)
            outdated = not review.is_current
            return DraftSummary(name, dict(counts), review.is_edited, outdated, review.open_count)
        stem = CITATIONS.stem(self._workspace, self._workspace.drafts / name)
        versions = find_versions(self._workspace.outputs / "audits", stem, ".json")
        if not versions:
            return DraftSummary(name, {})
        stored: Any = read_json(versions[-1][1], "citation audit").get("counts", {})
        return DraftSummary(name, {str(s): int(n) for s, n in stored.items()}, is_edited=True)


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size
