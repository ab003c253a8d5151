"""Which words of a passage are quoted, and that the source prints them."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from rag_assets.chunking import split_sentences
from rag_assets.evidence.locating import first_words
from rag_assets.evidence.pack import QuoteCheck
from rag_assets.law import (
    ArticleBegin,
    Clause,
    find_begins,
    find_clauses,
    find_references,
    has_articles,
    pick_clause,
)
from rag_assets.model import FIGURE, DamagedFileError, PageBox, ParsedDocument
from rag_assets.retrieval.finding import is_imprint

# Where a sentence that is too long to be quoted is cut: behind a clause, never in mid-thought.
#
# What is cut off never limits what is kept: where it excepts, conditions or denies anything, the
# sentence is quoted whole.

# What ends a clause. A colon only announces one, and a Chinese enumeration goes on behind its mark,
# so that these two are cut at only where nothing else is there.
_CLAUSE_END = re.compile(r"[，；](?=.)|[,;](?=\s)", re.DOTALL)
_WEAK_END = re.compile(r"[：、](?=.)|:(?=\s)", re.DOTALL)
# Words that take something back, or hold it only in some case.
_LIMITS = re.compile(
    r"但|除|不|未|非|无|没有|否|勿|若|如|倘|仅|只|例外|另有|前提|条件|限于|然而|却|反而|尚|虽|尽管|"
    r"\b(?:but|unless|except\w*|excluding|provid(?:ed|ing)|if|only|no|not|none|nor|neither|never|"
    r"cannot|without|however|although|though|while|whereas|yet|until|rather|instead|lack\w*|"
    r"fail\w*|contrary|despite|whether|when|where|unlikely|hardly|other than|subject to)\b|"
    r"n[’']t\b",
    re.IGNORECASE,
)
_MARKS = " \t\r\n，；：、,;:"
# Words that lead to what was cut off: alone between two marks …
_LEADING = (
    r"但是?|然而|不过|可是|只是|却|而且?|并且?|同时|此外|另外|以及|因此|所以|因而|从而|于是|故|即|"
    r"其中|例如|比如|包括|如果|假如|虽然|尽管|由于|因为|不仅|不但|或者?|和|与|及|当|若|"
    r"so|yet|however|therefore|thus|hence|moreover|furthermore|nevertheless|instead|namely|"
    r"for example|for instance|e\.g\.?|i\.e\.?|that is|in addition|in contrast|which|who|whose|"
    r"where|when|while|whereas|that|because|since|although|though|if|unless|than"
)
_DANGLING = re.compile(rf"[，；：、,;:]\s*(?:{_LEADING})$|(?<!\w)(?:and|or|but|nor)$")
# … or, where no clause ends, the last ones that fit.
_BROKEN_OFF = re.compile(
    rf"{_DANGLING.pattern}|(?<!\w)(?:{_LEADING}|the|an?|of|in|to|for|with|by|at|on|from|into|between|"
    r"as|is|are|was|were|not|no)$"
)


def shorten(sentence: str, limit: int) -> str:
    """Return a sentence, or its beginning of at most `limit` words where it has more.

    It ends with a clause where one ends in the second half of what is kept, and neither with the
    mark that divides it from what was cut off nor with a conjunction. Where what would be cut off
    limits the rest, the sentence is returned whole.
    """
    kept = _cut(sentence, limit)
    return sentence if _LIMITS.search(sentence, len(kept)) else kept


def _cut(sentence: str, limit: int) -> str:
    kept = first_words(sentence, limit)
    if len(kept) == len(sentence):
        return kept
    for end in (_CLAUSE_END, _WEAK_END):
        # The mark may be the first character that is cut off.
        for match in reversed([*end.finditer(sentence[: len(kept) + 2])]):
            if len(kept) / 2 <= match.start() <= len(kept):
                clause = _trimmed(kept[: match.start()], _DANGLING)
                if len(clause) >= len(kept) / 2:
                    return clause
    return _trimmed(kept, _BROKEN_OFF)


def _trimmed(text: str, leading: re.Pattern[str]) -> str:
    """Return `text` without what leads on at its end; whole where nothing else would be left."""
    trimmed = text.rstrip(_MARKS)
    while match := leading.search(trimmed):
        trimmed = trimmed[: match.start()].rstrip(_MARKS)
    return trimmed if any(map(str.isalnum, trimmed)) else text


# Which words of a passage are quoted, and that they stand so in the source.

# Spec 000 recommends quotes of at most so many words.
QUOTE_WORDS = 60
# What a printed line has and its clean text has not, or the other way round: white space, hyphens
# at line ends, invisible characters, the pipes and escapes of tables,
# the caret of an exponent.
_NOT_READ = re.compile(r"[\s\-^\u2010\u2011\xad\u200b\u2060\ufeff|\\\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a passage that were compared with their source.

    Args:
        char_start: in the document's clean text; half-open.
        page_start: page of its first character, from 1; None without pages.
        boxes: rectangles around its printed lines; empty where not known.
        is_cut: whether the sentence goes on: to be shown with an ellipsis.
        article: of a statute, in which it begins, as it is written there, in Chinese with its
            clause (第二十条第二款); None elsewhere.
        check: what it was compared with.
    """

    text: str
    char_start: int
    char_end: int
    page_start: int | None
    page_end: int | None
    boxes: tuple[PageBox, ...]
    is_cut: bool
    article: str | None
    check: QuoteCheck


class QuoteFinder:
    """Finds quotes in passages of stored parses, each of which is read once.

    Args:
        data: the folder that `content_ref` of a published document is relative to.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._documents: dict[str, ParsedDocument] = {}
        self._articles: dict[str, list[ArticleBegin]] = {}

    def find(
        self, content_ref: str, name: str, text: str, start: int, span: tuple[int, int]
    ) -> Quote:
        """Return words of a passage compared with their source.

        What has more than QUOTE_WORDS is cut behind a clause where one ends (`shorten`), but in a
        statute: its sentences are quoted whole, with the one behind that excepts something.

        Args:
            content_ref: the document's parse.
            name: of the passage, for messages.
            text: of the passage, which stands at `start` in the document's clean text.
            start: code points.
            span: the words, in `text`; half-open.

        Raises:
            DamagedFileError: the parse is gone or is not what the passage was cut from, or the
                quote is not what is printed there.
        """
        document = self._read(content_ref)
        if document.text[start : start + len(text)] != text:
            raise DamagedFileError(
                f"{name} is not what {self._data / content_ref} holds at characters {start} to "
                f"{start + len(text)}: publication and parse differ. Run `rag ingest` and ask "
                "again; if it stays, please report it."
            )
        first = start + span[0]
        article = self._article_at(content_ref, first)
        sentence = text[slice(*span)]
        if article is None:
            quote = shorten(sentence, QUOTE_WORDS)
        else:
            # Statutes bring the search with them, which who only imports the library does not need.
            from rag_assets.retrieval.statutes import exception_end

            quote = text[span[0] : exception_end(text, span[1])].rstrip()
        last = first + len(quote)
        check = check_quote(document, first, quote, name)
        pages = [page.number for page in document.pages if page.start < last and page.end > first]
        return Quote(
            text=quote,
            char_start=first,
            char_end=last,
            page_start=pages[0] if pages else None,
            page_end=pages[-1] if pages else None,
            boxes=self._boxes(document, first, last),
            is_cut=len(quote) < len(sentence.rstrip()),
            article=article,
            check=check,
        )

    def _read(self, content_ref: str) -> ParsedDocument:
        if content_ref not in self._documents:
            from rag_assets.parsing import read_print

            self._documents[content_ref] = read_print(self._data / content_ref)
        return self._documents[content_ref]

    def _article_at(self, content_ref: str, place: int) -> str | None:
        if content_ref not in self._articles:
            begins = find_begins(self._read(content_ref).text)
            self._articles[content_ref] = begins if has_articles(len(begins)) else []
        begins = self._articles[content_ref]
        number = sum(begin.start <= place for begin in begins) - 1
        if number < 0:
            return None
        begin, *following = begins[number : number + 2]
        own = self._read(content_ref).text[begin.start : following[0].start if following else None]
        return begin.shown + _clause_shown(own, place - begin.start)

    def _boxes(self, document: ParsedDocument, start: int, end: int) -> tuple[PageBox, ...]:
        if not document.pages:
            return ()
        from rag_assets.chunking import BoxFinder

        return BoxFinder(document).find(start, end)


def check_quote(document: ParsedDocument, start: int, quote: str, name: str) -> QuoteCheck:
    """Compare a quote with its source and return what it was compared with.

    The clean text must hold it character by character. Where the parse knows the printed lines,
    their characters must read the same once ligatures, white space and the hyphens of line ends
    are undone.

    Args:
        document: with text and printed lines.
        start: of the quote in the clean text.
        quote: as it will be shown.
        name: of the passage, for messages.

    Raises:
        DamagedFileError: they differ; the message shows both.
    """
    from rag_assets.parsing import printed_text

    end = start + len(quote)
    printed = printed_text(document, start, end)
    if document.text[start:end] != quote or _read(printed) != _read(quote):
        raise DamagedFileError(
            f"{name}: the quote differs from the source. No pack was made. Quote: "
            f"{quote!r}. Source: {printed!r}. Delete the document's parse and run `rag ingest`; "
            "if it stays, please report it."
        )
    return "printed" if document.lines else "clean_text"


def _read(text: str) -> str:
    return _NOT_READ.sub("", unicodedata.normalize("NFKC", text))


def first_span(text: str) -> tuple[int, int] | None:
    """Return where the first words of a passage stand that nothing can be chosen from: a heading
    alone. A publisher's line is never quoted.

    Returns:
        (start, end) in `text`, trimmed, without the reference of a figure; None where there is
        nothing to quote.
    """
    for first, last in _between(FIGURE, text):
        piece = text[first:last]
        for start, end in split_sentences(piece) or [(0, len(piece))]:
            words = piece[start:end]
            if any(map(str.isalnum, words)) and not is_imprint(words):
                begin = first + start + len(words) - len(words.lstrip())
                return begin, begin + len(words.strip())
    return None


def article_span(text: str, article: str, question: str) -> tuple[int, int] | None:
    """Return the beginning of an article in a text, or of the clause of it that the question names;
    None where it does not begin there.
    """
    wanted = find_begins(article)[0].key
    begins = find_begins(text)
    for begin, following in zip_longest(begins, begins[1:]):
        if begin.key == wanted:
            own = text[begin.start : following.start if following else None].rstrip()
            clause = _named_clause(wanted, own, question)
            start, end = (clause.start, clause.end) if clause is not None else (0, len(own))
            return begin.start + start, begin.start + end
    return None


def _named_clause(key: str, article: str, question: str) -> Clause | None:
    named = next((one for one in find_references(question) if one.key == key), None)
    return pick_clause(find_clauses(article), named.paragraph, named.item) if named else None


def _clause_shown(article: str, place: int) -> str:
    clauses = find_clauses(article)
    return next((one.shown for one in clauses if one.start <= place < one.end), "")


def _between(mark: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    reached = 0
    for found in mark.finditer(text):
        yield reached, found.start()
        reached = found.end()
    yield reached, len(text)
