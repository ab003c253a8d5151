"""Check sentences and drafts against what they cite; keep what an agent judges, with its proof."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict, cast

from pydantic import Field

from rag_assets.desk.tools.fencing import Fence
from rag_assets.model import Progress, UsageError, hash_bytes
from rag_assets.retrieval import OpenedLibrary

if TYPE_CHECKING:
    from rag_assets.auditing import CitationVerdict, CitedDocument, Draft
    from rag_assets.auditing.record import AgentDecision
    from rag_assets.auditing.reviewing import Item, Review

# Texts of drafts that are no files, for as long as the server runs.
_MOST_TEXTS, _LONGEST_TEXT = 16, 2_000_000
_PAGE, _MOST_PAIRS, _MOST_PASSAGES, _AROUND = 10, 30, 8, 400
_LONGEST_MODEL, _LONGEST_CLIENT = 40, 45
HOW_TO_JUDGE = """\
Judge by this document alone, not by what you know, and only what `claim` says.
supports: the document itself asserts all of it: subject, numbers, direction, conditions, strength.
partly: it asserts a part of it, or says it more weakly or of fewer cases.
contradicts: it asserts what cannot be true together with the claim.
does_not_address: it asserts nothing that decides the claim; naming the topic is not enough.
Then call record_verdict with one piece of the document, copied letter by letter, that decides it: \
a sentence or clause of five words or more, no title, heading or reference. For does_not_address \
quote the nearest sentence. If no passage decides it, call citation_evidence again with `words`."""

DraftPath = Annotated[
    str, Field(description="File of the draft, absolute or below the library: drafts/chapter.md.")
]
DraftText = Annotated[str, Field(description="The draft's text in Markdown, where it is no file.")]
CitationOf = Annotated[
    str, Field(description="As audit_draft returns it, such as drafts/chapter.md#0123456789ab.")
]
Start = Annotated[int, Field(ge=1, description="First citation to list, for more.")]
Verdict = Literal["supports", "partly", "contradicts", "does_not_address"]


# What tools return, as their schemas show it; `about` says what the marks around texts mean.
CheckedSentence = TypedDict("CheckedSentence", {  # noqa: UP013  # a field a line is a page
    "about": NotRequired[str], "verdict": str, "probability": float | None, "document": str,
    "place": str | None, "passage": str | None, "quote": str | None, "reason": str,
})  # fmt: skip
AuditedDraft = TypedDict("AuditedDraft", {  # noqa: UP013
    "about": NotRequired[str], "draft": str, "counts": dict[str, int], "to_judge": int,
    "citations": list[dict[str, str | None]], "warnings": list[str], "next_step": str,
})  # fmt: skip
PairedDraft = TypedDict("PairedDraft", {  # noqa: UP013
    "about": NotRequired[str], "draft": str, "paired": int, "unpaired": int,
    "citations": list[dict[str, Any]], "next_step": str,
})  # fmt: skip
CitationEvidence = TypedDict("CitationEvidence", {  # noqa: UP013
    "about": NotRequired[str], "citation": str, "sentence": str, "context": str,
    "claim": str, "cites": str, "document": str, "title": str | None,
    "passages": list[dict[str, str]], "passages_in_all": int, "built_in_check": str,
    "judged_by": str, "how_to_judge": str,
})  # fmt: skip
RecordedVerdict = TypedDict("RecordedVerdict", {  # noqa: UP013
    "about": NotRequired[str], "citation": str, "status": str, "quote": str, "place": str,
    "judged_by": str, "to_judge": int, "next_citation": str | None,
})  # fmt: skip


class Drafts:
    """The drafts that an agent asks about.

    Args:
        library: that they cite.
        now: the clock.
    """

    def __init__(self, library: OpenedLibrary, now: Callable[[], datetime]) -> None:
        self.library, self.now = library, now
        self._texts: OrderedDict[str, str] = OrderedDict()

    def name(self, path: str, text: str) -> str:
        """Return what a draft is called in citation ids; keeps the text of one that is no file."""
        if bool(path.strip()) == bool(text.strip()) or len(text) > _LONGEST_TEXT:
            raise UsageError(f"give `path`, or `text` of at most {_LONGEST_TEXT} characters.")
        if path.strip():
            file, root = self._file(path.strip()), self.library.workspace.root
            return (file.relative_to(root) if file.is_relative_to(root) else file).as_posix()
        name = f"text-{hash_bytes(text.encode())[:12]}.md"
        self._texts[name] = text
        while len(self._texts) > _MOST_TEXTS:
            self._texts.popitem(last=False)
        return name

    def read(self, name: str) -> "Draft":
        """Return the draft of a name."""
        from rag_assets.auditing import parse_draft, read_draft

        if name in self._texts:
            return parse_draft(name, self._texts[name].encode())
        return read_draft(self._file(name))

    def review(self, name: str, on_progress: Progress | None = None) -> "Review":
        """Judge what was not judged before, and return the items of a draft."""
        from rag_assets.auditing import judge_draft
        from rag_assets.auditing.judgements import judgements_of
        from rag_assets.auditing.reviewing import make_review

        draft, day = self.read(name), self.now().date()
        audit = judge_draft(self.library, draft, as_of=day, on_progress=on_progress)
        return make_review(name, draft, audit, judgements_of(self.library.workspace))

    def find(self, citation: str) -> tuple["Review", "Item", "CitedDocument"]:
        """Return a citation that can be judged, with its document; of a statute the article."""
        from rag_assets.auditing import CitedDocumentRef, open_published
        from rag_assets.auditing.library import cut_to_article, find_statute, statute_of_label

        name, _, key = citation.strip().rpartition("#")
        review = self.review(name or key)
        item = review.find(key)
        if item is None:
            raise UsageError(
                f"there is no citation '{key}' (any more). Call audit_draft for those of now."
            )
        row = item.machine
        if row.status == "ERROR" or row.namespace is None:
            raise UsageError(f"it cannot be judged: {row.reason} pair_citations lists candidates.")
        statute = statute_of_label(row.cites)
        with open_published(self.library, self.now().date()) as library:
            found = find_statute(statute, library, (row.namespace,)) if statute else None
            ref = found or library.find(row.doc_uid, row.namespace)[0]
            document = library.load(ref) if isinstance(ref, CitedDocumentRef) else None
        if document is None or document.content_version != row.content_version:
            raise UsageError(f"`{row.doc_uid}` has just changed. Call citation_evidence again.")
        article = ref.article if isinstance(ref, CitedDocumentRef) else None
        return review, item, cut_to_article(document, article) if article else document

    def _file(self, path: str) -> Path:
        from rag_assets.auditing import DRAFT_SUFFIXES, list_drafts

        workspace = self.library.workspace
        given = Path(path).expanduser()
        for file in (workspace.root / given, workspace.drafts / given, given.absolute()):
            if file.is_file() and file.suffix.lower() in DRAFT_SUFFIXES:
                return file
        known = [one.relative_to(workspace.root).as_posix() for one in list_drafts(workspace)]
        raise UsageError(
            f"there is no draft '{path[:200]}' ({', '.join(DRAFT_SUFFIXES)}). The library has "
            f"{', '.join(known[:20]) or 'none'}. Give one of them, an absolute path, or `text`."
        )


def verify_sentence(
    drafts: Drafts,
    sentence: Annotated[str, Field(description="One sentence, without its citation.")],
    document: Annotated[str, Field(description="doc_uid, as a hit of search names it.")],
    on_progress: Progress | None = None,
) -> CheckedSentence:
    """Check with the built-in reader whether one document supports one sentence, and where.

    `verdict` is OK, WEAK (in part, or not surely) or MISSING; `probability` that it is supported.
    """
    from rag_assets.auditing import audit_sentence

    audit = audit_sentence(drafts.library, sentence, document, on_progress=on_progress)
    if not audit.rows or audit.rows[-1].status == "ERROR":
        raise UsageError(f"{' '.join(audit.errors)} `search` names the doc_uid of each hit.")
    row = audit.rows[-1]
    return {
        "verdict": row.status, "probability": row.score, "document": row.doc_uid,
        "place": row.locator, "passage": row.passage, "quote": row.shown_quote,
        "reason": row.reason,
    }  # fmt: skip


def audit_draft(
    drafts: Drafts,
    path: DraftPath = "",
    text: DraftText = "",
    start: Start = 1,
    on_progress: Progress | None = None,
) -> AuditedDraft:
    """Check every citation of a draft; list ten, those that need attention first.

    OK: supported; WEAK: in part, or not surely; MISSING: not; ERROR: the citation means no
    document. Give `citation` to citation_evidence to judge it yourself.
    """
    from rag_assets.auditing import place_in, urgency

    name = drafts.name(path, text)
    review = drafts.review(name, on_progress)
    items = sorted(review.items, key=lambda item: (urgency(item.row), item.row.number))
    rows: list[dict[str, str | None]] = [
        {
            "citation": f"{name}#{item.key}", "status": row.status, "judged_by": _judge_of(row),
            "where": place_in(review.draft.name, row.line, row.file), "claim": row.claim,
            "cites": row.shown_citation, "document": row.doc_uid, "quote": row.shown_quote,
            "place": row.locator, "reason": row.reason,
        }
        for item in items[start - 1 : start - 1 + _PAGE]
        for row in [item.row]
    ]  # fmt: skip
    more, todo = start + _PAGE, _to_judge(review)
    steps = f"Call audit_draft with start={more} for more. " if more <= len(items) else ""
    if todo:
        steps += f"Not judged: {len(todo)}. Begin with citation_evidence of {name}#{todo[0].key}. "
    steps += "Call pair_citations for those with ERROR." if review.audit.errors else ""
    return {
        "draft": name, "counts": dict(review.audit.counts.items()), "to_judge": len(todo),
        "citations": rows, "warnings": list(review.audit.warnings), "next_step": steps,
    }  # fmt: skip


def pair_citations(
    drafts: Drafts, path: DraftPath = "", text: DraftText = "", start: Start = 1
) -> PairedDraft:
    """Say which document each citation of a draft means; those that mean none come first.

    `entries` of the reference list and `candidates` of the library help a person to settle them.
    """
    from rag_assets.auditing import open_published
    from rag_assets.auditing.library import FaultyCitation, References, resolve_citation

    name = drafts.name(path, text)
    draft, found = drafts.read(name), dict[str, dict[str, Any]]()
    with open_published(drafts.library, drafts.now().date()) as library:
        references = References(draft.references, library, draft.namespaces)
        for line, one in ((held.line, one) for held in draft.sentences for one in held.citations):
            if one.label in found:
                found[one.label]["lines"] = sorted({*found[one.label]["lines"], line})
                continue
            meant = resolve_citation(one, library, draft.namespaces, references)
            is_faulty = isinstance(meant, FaultyCitation)
            entries = one.entries or tuple(references.labelled(one.label))
            near = [pair for each in entries for pair in references.pairing(each).candidates]
            found[one.label] = {
                "cites": one.label, "lines": [line], "document": getattr(meant, "doc_uid", None),
                "title": getattr(meant, "title", None),
                "reason": meant.reason if isinstance(meant, FaultyCitation) else meant.pairing,
                "entries": [references.entries[each].text for each in entries],
                "candidates": [f"{uid} ({why})" for (_, uid), why in near] if is_faulty else [],
            }  # fmt: skip
    rows = sorted(found.values(), key=lambda one: one["document"] is not None)
    unpaired = sum(row["document"] is None for row in rows)
    more = start + _MOST_PAIRS
    said = f"Call pair_citations with start={more} for more. " if more <= len(rows) else ""
    said += (
        "Tell the person the reasons. Only a person settles what an entry means: `rag references "
        "DRAFT --settle ENTRY=UID`, or adds the missing file to the library."
        if unpaired
        else "Call audit_draft."
    )
    return {
        "draft": name, "paired": len(rows) - unpaired, "unpaired": unpaired,
        "citations": rows[start - 1 : more - 1], "next_step": said,
    }  # fmt: skip


def citation_evidence(
    drafts: Drafts,
    citation: CitationOf,
    words: Annotated[
        str, Field(description="Show passages that hold all of these words instead.")
    ] = "",
) -> CitationEvidence:
    """Return what you need to judge a citation: sentence, passages of its document, and the rules.

    Judge it, then call record_verdict. get_context_window shows what stands around a passage.
    """
    from rag_assets.auditing.reviewing import choices_of

    review, item, document = drafts.find(citation)
    row = item.row
    chosen, count = choices_of(document, item.machine, words)
    if not count:
        raise UsageError(f"no passage of `{row.doc_uid}` holds all of these words. Try fewer.")
    shown = [(one.chunk_id, one.locator, one.text) for one in chosen[:_MOST_PASSAGES]]
    if item.machine.passages and not words.strip():
        best = item.machine.passages
        shown = [(one.chunk_ids[0], one.locator or "", one.text) for one in best]
    return {
        "citation": citation, "sentence": row.sentence,
        "context": review.draft.text[max(0, row.sentence_start - _AROUND) :][: 3 * _AROUND],
        "claim": row.claim, "cites": row.shown_citation, "document": row.doc_uid,
        "title": row.title,
        "passages": [dict(zip(("chunk_id", "place", "text"), one, strict=True)) for one in shown],
        "passages_in_all": count, "built_in_check": f"{item.machine.status}: {item.machine.reason}",
        "judged_by": _judge_of(row), "how_to_judge": HOW_TO_JUDGE,
    }  # fmt: skip


def record_verdict(
    drafts: Drafts,
    citation: CitationOf,
    verdict: Verdict,
    quote: Annotated[str, Field(description="One piece of the cited document, letter by letter.")],
    reason: Annotated[str, Field(description="Why, in one or two sentences.")] = "",
    model: Annotated[str, Field(description="Your model's name.")] = "",
    client: str = "",
) -> RecordedVerdict:
    """Keep your verdict on a citation after citation_evidence; a person sees it as an AI agent's.

    Accepted only with a `quote` found verbatim in the cited document. A person's judgement is
    never replaced; your own earlier one is.
    """
    from rag_assets.auditing import RefusedQuoteError, find_evidence
    from rag_assets.auditing.judgements import (
        ChosenPassage,
        append_judgement,
        judge_row,
        judgements_of,
    )
    from rag_assets.auditing.reviewing import make_review, place_of

    review, item, document = drafts.find(citation)
    try:
        printed, passage = find_evidence(quote, document)
    except RefusedQuoteError as error:
        fence = Fence()
        near = f" Nearest text: {fence.mark(error.nearest)} {fence.about}" if error.nearest else ""
        raise UsageError(f"nothing was recorded: {error}{near}") from error
    by = client[:_LONGEST_CLIENT] or "unknown"
    place = place_of(passage, document.page_labels)
    judgement = judge_row(
        item.machine, cast("AgentDecision", f"agent_{verdict}"),
        by=f"{by} ({model.strip()[:_LONGEST_MODEL]})" if model.strip() else by,
        at=drafts.now().astimezone().isoformat(timespec="seconds"), draft=review.draft.name,
        draft_digest=review.draft.digest, text=review.draft.text, comment=reason,
        chosen=ChosenPassage(printed, place, passage.chunk_id),
    )  # fmt: skip
    workspace = drafts.library.workspace
    append_judgement(workspace, judgement)
    review = make_review(review.name, review.draft, review.audit, judgements_of(workspace))
    row, todo = (review.find(item.key) or item).row, _to_judge(review)
    return {
        "citation": citation, "status": row.status, "quote": printed, "place": place,
        "judged_by": _judge_of(row), "to_judge": len(todo),
        "next_citation": f"{review.name}#{todo[0].key}" if todo else None,
    }  # fmt: skip


def _judge_of(row: "CitationVerdict") -> str:
    kind = "AI agent" if row.person and row.person.is_agent else "person"
    return f"{kind} {row.person.by}" if row.person else "built_in_check"


def _to_judge(review: "Review") -> "list[Item]":
    """Return what neither a person nor an agent has judged and can be, the most urgent first."""
    return [one for one in review.items if one.row.person is None and one.machine.status != "ERROR"]


CHECKS = (verify_sentence, audit_draft, pair_citations, citation_evidence, record_verdict)
