"""Citations `[law > chapter > article]` in drafts: what they mean, and the text that they name."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from rag_assets.auditing.drafts.anchors import Citation
from rag_assets.auditing.library import (
    CitedArticle,
    CitedDocument,
    CitedDocumentRef,
    Library,
    Passage,
    digest_document,
)
from rag_assets.model import UsageError, hash_fields
from rag_assets.statutes import (
    FoundArticle,
    LawVersion,
    StatuteCitation,
    UnknownLawError,
    read_citation,
)

_MARKS = {
    "superseded": "The wording of {day} that is cited is superseded by a newer one.",
    "repealed": "The wording of {day} that is cited is {repeal}.",
    "not_yet_in_force": "The wording of {day} that is cited holds from {since} on only.",
}


def statute_of(citation: Citation) -> StatuteCitation | None:
    """Return what a citation of a statute names, None for one of another form."""
    return read_citation(citation.label) if citation.form in {"statute", "words"} else None


def statute_of_label(label: str) -> StatuteCitation | None:
    """Return what a label of an audit names, None where it is a uid or a key."""
    try:
        return read_citation(label)
    except UsageError:
        return None


def find_statute(
    asked: StatuteCitation, library: Library, namespaces: Sequence[str], as_of: date | None = None
) -> CitedDocumentRef | tuple[bool, str]:
    """Return the document with the article that is cited.

    Args:
        as_of: another day than the library's.

    Returns:
        Else whether the law is known, and a sentence on what is not there and what is nearest.
    """
    try:
        return library.find_article(asked, namespaces, as_of)
    except UnknownLawError as error:
        return False, _sentence(error)
    except UsageError as error:
        return True, _sentence(error)


def shown_repeal(version: LawVersion) -> str:
    """Return by what a wording is repealed, in words; empty where by nothing."""
    return version.judged.repeal.shown if version.judged.repeal is not None else ""


def cited_article(found: FoundArticle) -> CitedArticle:
    """Return a found article as audits know it; a wording that is not in force is marked."""
    version = found.version
    mark = _MARKS.get(version.standing, "").format(
        day=version.version_date,
        since=version.holds_from,
        repeal=shown_repeal(version),
    )
    spans = ((found.start, found.end),) if found.lead is None else (
        found.lead, (found.start, found.end),
    )  # fmt: skip
    return CitedArticle(found.shown, found.clause, spans, mark, found.whole)


def cut_to_article(document: CitedDocument, article: CitedArticle) -> CitedDocument:
    """Return a document with no more of it than the article, paragraph or item that is cited."""
    return replace(
        document,
        passages=tuple(_cut(document.passages, article)),
        unsaid=tuple(_cut(document.unsaid, article)),
    )


def digest_cut(document: CitedDocument, article: CitedArticle) -> str:
    """Return the SHA-256 of all that a verdict on an article rests on, as `digest_document`.

    Args:
        document: as `cut_to_article` returns it.
    """
    return hash_fields(digest_document(document), [list(span) for span in article.spans])


def _cut(passages: Sequence[Passage], article: CitedArticle) -> Iterator[Passage]:
    reached, end = article.spans[0][0], article.spans[-1][1]
    for passage in passages:
        if passage.char_start is None:
            continue
        # Where passages overlap, what stood in the one before is not read again.
        first = max(reached, passage.char_start)
        last = min(end, passage.char_start + len(passage.text))
        held = passage.text[first - passage.char_start : max(first, last) - passage.char_start]
        text = _only(held, first, article)
        if text.strip():
            reached = last
            # The hash stays that of the passage, by which a verdict is traced to it.
            yield replace(passage, text=text, char_start=first, char_end=last)


def _only(text: str, start: int, article: CitedArticle) -> str:
    """Return a text in which line ends stand for what is not cited: places stay what they are, and
    an item stays one with the words that lead to it.
    """
    return "".join(
        character if any(first <= place < end for first, end in article.spans) else "\n"
        for place, character in enumerate(text, start)
    )


def _sentence(error: UsageError) -> str:
    told = str(error)
    return told[:1].upper() + told[1:]
