"""What stands before the text of a paper: abstract, dates, title, authors."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rag_assets.parsing.cleaning import ends_sentence, guess_language
from rag_assets.parsing.pdf.imprint import Imprint, find_imprint
from rag_assets.parsing.pdf.lines import Line, Page
from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph
from rag_assets.parsing.pdf.title import (
    ABSTRACT_HEAD,
    ABSTRACT_LABEL,
    ARTICLE_TYPE,
    CORRESPONDENCE,
    DATE,
    EMAIL,
    FIRST_SECTION,
    INSTITUTION,
    KEYWORDS,
    NOTICE,
    RECEIVED,
    REFERENCE_ENTRY,
    REFERENCES_HEAD,
    SERIAL,
    SUMMARY_HEAD,
    Title,
    find_authors,
    find_title,
    is_name_line,
    word_count,
)

# The abstract of a paper: under its heading, or by its look between authors and first section.

# Abstracts stand on the first pages; those of theses behind covers, oaths and thanks.
_LAST_PAGE = 14
# The longest abstracts of journals have some 600 words, those of theses a page or two.
_MAX_WORDS = 900
# Without a heading an abstract is told by its size: shorter is a motto, longer an introduction.
_MIN_UNHEADED_WORDS, _MAX_UNHEADED_WORDS = 40, 450
_SAME_SIZE_POINTS = 0.8
_AFTER_HEAD = re.compile(r"[\s:：.。|•*—–\-\]】]*")
# Around the middle of a document stands its text proper; the language is read there.
_LANGUAGE_CHARACTERS = 6000
_WIDTH_STEP = 0.9
# A box of key points interrupts a sentence with a bullet; its text is set in from the column.
_BULLETS = "►•▪●■◆➢✓‣"
_BOX_MARGIN_POINTS = 2.0
_TEXT_KINDS = ("paragraph", "list", "heading", "unplaced_heading", "front", "footnote")


@dataclass(frozen=True, slots=True)
class Abstract:
    """The paragraphs of an abstract, which stand together.

    Args:
        skip: characters of the first paragraph that are its heading (`Abstract—`).
    """

    paragraphs: tuple[Paragraph, ...] = ()
    skip: int = 0


def find_abstract(paragraphs: list[Paragraph]) -> Abstract:
    """Return the abstract, empty where there is none.

    Of abstracts in several languages the one in the document's own is taken. Headings inside the
    abstract (Background, Methods …) become paragraphs; what interrupts it is moved behind it, and
    what stands between the title and it is front matter.

    Args:
        paragraphs: in reading order, headings marked; changed in place.
    """
    last_page = paragraphs[-1].page if paragraphs else 0
    found = _all_headed(paragraphs, 0, min(_LAST_PAGE, last_page))
    if not found:
        taken = _unheaded(paragraphs)
        found = [(taken, 0)] if taken else []
    if not found and last_page > _LAST_PAGE:
        # French theses print it on the back.
        found = _all_headed(paragraphs, last_page - 1, last_page)
    if not found:
        return Abstract()
    taken, skip = _in_own_language(paragraphs, found)
    _mark_head(paragraphs, taken[0])
    return Abstract(_put_together(paragraphs, taken), skip)


def _mark_head(paragraphs: Sequence[Paragraph], first: int) -> None:
    """Make the line above the abstract a heading where it is nothing but its head."""
    if first == 0:
        return
    head = paragraphs[first - 1]
    match = ABSTRACT_HEAD.match(head.text) or SUMMARY_HEAD.match(head.text)
    is_alone = match is not None and not head.text[match.end() :].strip(" .:：-—–*•]】")
    if is_alone and head.kind in ("paragraph", "unplaced_heading"):
        levels = [item.level or 1 for item in paragraphs if item.kind == "heading"]
        head.kind, head.level = "heading", min(levels, default=1)


def _all_headed(
    paragraphs: Sequence[Paragraph], first_page: int, last_page: int
) -> list[tuple[list[int], int]]:
    found = []
    for index, paragraph in enumerate(paragraphs):
        if paragraph.page < first_page:
            continue
        if paragraph.page > last_page:
            break
        if paragraph.kind not in _TEXT_KINDS or not paragraph.upright:
            continue
        match = ABSTRACT_HEAD.match(paragraph.text)
        if match is None and paragraph.page == 1 and SUMMARY_HEAD.match(paragraph.text):
            match = SUMMARY_HEAD.match(paragraph.text)
        if match is None:
            continue
        taken, skip = _headed(paragraphs, index, match)
        if taken:
            found.append((taken, skip))
    return found


def _headed(
    paragraphs: Sequence[Paragraph], head: int, match: re.Match[str]
) -> tuple[list[int], int]:
    """Return the indices of the abstract under a heading, and the heading's length in the first."""
    text = paragraphs[head].text
    after = _AFTER_HEAD.match(text, match.end())
    skip = after.end() if after else match.end()
    if skip < len(text):
        first, taken = head, [head]
    else:
        first, taken, skip = head + 1, [], 0
    labelled = skip > 0 and ABSTRACT_LABEL.match(text, skip) is not None
    words = word_count(text) if taken else 0.0
    labels: set[str] = set()
    runs_in = labelled
    box_left: float | None = None
    for index in range(first + len(taken), len(paragraphs)):
        item = paragraphs[index]
        if item.page > paragraphs[head].page + 1 or words > _MAX_WORDS:
            break
        if item.kind not in _TEXT_KINDS or not item.upright:
            continue
        if taken and item.text[0] in _BULLETS and not ends_sentence(paragraphs[taken[-1]].text):
            box_left = item.box[0]
        if box_left is not None:
            if item.box[0] >= box_left - _BOX_MARGIN_POINTS and item.page == paragraphs[head].page:
                continue
            box_left = None
        label = ABSTRACT_LABEL.match(item.text)
        if label is not None and (not taken or labelled) and _fits(label, item, labels, runs_in):
            runs_in = runs_in or label.end() < len(item.text)
            labelled = True
            labels.add(_folded(label))
        elif _ends_abstract(item, paragraphs[taken[-1]] if taken else None, bool(taken)):
            break
        elif item.kind == "front" or (taken and _is_aside(item, paragraphs[taken[-1]])):
            continue
        taken.append(index)
        words += word_count(item.text)
    while taken and paragraphs[taken[-1]].kind in ("heading", "unplaced_heading"):
        taken.pop()
    return taken, skip


def _folded(label: re.Match[str]) -> str:
    return (label[1] or label[2]).lower().rstrip("s")


def _fits(label: re.Match[str], item: Paragraph, labels: set[str], runs_in: bool) -> bool:
    """Tell whether a label goes on with a structured abstract rather than heads a section.

    No part comes twice, and where the parts' names run in, one on a line of its own is a heading.
    """
    return _folded(label) not in labels and not (runs_in and label.end() >= len(item.text))


def _ends_abstract(item: Paragraph, before: Paragraph | None, has_text: bool) -> bool:
    text = item.text
    if (
        item.kind in ("heading", "unplaced_heading")
        or KEYWORDS.match(text)
        or FIRST_SECTION.fullmatch(text)
        or ABSTRACT_HEAD.match(text)
    ):
        return True
    if before is None or not has_text or not ends_sentence(before.text):
        return False
    return (
        _is_about_paper(text)
        or abs(item.size - before.size) > _SAME_SIZE_POINTS
        or (item.bold != before.bold and item.page == before.page)
    )


def _is_about_paper(text: str) -> bool:
    return bool(CORRESPONDENCE.match(text) or RECEIVED.match(text) or NOTICE.match(text))


def _is_aside(item: Paragraph, before: Paragraph) -> bool:
    """Tell whether `item` interrupts a sentence: in another size, or about the paper."""
    return (
        abs(item.size - before.size) > _SAME_SIZE_POINTS
        or CORRESPONDENCE.match(item.text) is not None
        or NOTICE.match(item.text) is not None
    )


def _unheaded(paragraphs: Sequence[Paragraph]) -> list[int]:
    """Return the indices of an abstract without heading, by its look and by what follows it."""
    title = next((i for i, item in enumerate(paragraphs) if item.kind == "title"), None)
    if title is None:
        return []
    page = paragraphs[title].page
    taken: list[int] = []
    follower: Paragraph | None = None
    for index in range(title + 1, len(paragraphs)):
        item = paragraphs[index]
        if item.kind in ("front", "title", "footnote", "figure", "drawing", "caption", "table"):
            continue
        is_cut = bool(taken) and not ends_sentence(paragraphs[taken[-1]].text)
        is_end = (
            (item.page != page and not is_cut)
            or item.kind != "paragraph"
            or KEYWORDS.match(item.text) is not None
            or FIRST_SECTION.fullmatch(item.text) is not None
        )
        if is_end or (taken and not _is_alike(item, paragraphs[taken[-1]])):
            follower = item
            break
        taken.append(index)
    words = sum(word_count(paragraphs[index].text) for index in taken)
    if follower is None or not _MIN_UNHEADED_WORDS <= words <= _MAX_UNHEADED_WORDS:
        return []
    first = paragraphs[taken[0]]
    if KEYWORDS.match(follower.text) or FIRST_SECTION.fullmatch(follower.text):
        return taken
    if follower.kind == "paragraph" and follower.page == page and not _is_alike(follower, first):
        return taken
    return []


def _is_alike(item: Paragraph, before: Paragraph) -> bool:
    same_font = abs(item.size - before.size) <= _SAME_SIZE_POINTS / 2 and item.bold == before.bold
    narrower = item.box[2] - item.box[0] < _WIDTH_STEP * (before.box[2] - before.box[0])
    return same_font and not (narrower and len(item.lines) > 2)


def _in_own_language(
    paragraphs: Sequence[Paragraph], found: Sequence[tuple[list[int], int]]
) -> tuple[list[int], int]:
    if len(found) == 1:
        return found[0]
    middle = paragraphs[len(paragraphs) // 4 :]
    text, index = "", 0
    while index < len(middle) and len(text) < _LANGUAGE_CHARACTERS:
        text += middle[index].text + "\n"
        index += 1
    own = guess_language(text)
    for taken, skip in found:
        abstract = " ".join([paragraphs[item].text for item in taken])[skip:]
        if own is not None and guess_language(abstract) == own:
            return taken, skip
    return found[0]


def _put_together(paragraphs: list[Paragraph], taken: Sequence[int]) -> tuple[Paragraph, ...]:
    """Move what stands between the abstract's paragraphs behind them, page by page."""
    own = [paragraphs[index] for index in taken]
    for paragraph in own:
        if paragraph.kind != "list":
            paragraph.kind, paragraph.level = "paragraph", None
    wanted = {id(paragraph) for paragraph in own}
    between = [item for item in paragraphs[taken[0] : taken[-1]] if id(item) not in wanted]
    first = own[0].page
    early = [item for item in between if item.page == first and own[-1].page != first]
    late = [item for item in between if item.page != first or own[-1].page == first]
    paragraphs[taken[0] : taken[-1] + 1] = [*early, *own, *late]
    return tuple(own)


# Year of publication and DOI, as the first page prints them.

_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>“”‘’|{}]+", re.IGNORECASE)
_DOI_LABEL = re.compile(r"\bdoi\b|doi\.org", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"x{3,}|n{5,}|123_4", re.IGNORECASE)
_MIN_SUFFIX = 4
# Registrants of data, code and study plans (OSF, Zenodo, figshare, Dryad, ICPSR): what a paper
# rests on, not the paper.
_DATA_PREFIXES = ("10.17605", "10.5281", "10.6084", "10.5061", "10.3886")

_YEAR = r"(?:19[5-9]\d|20[0-4]\d)"
_ANY_YEAR = re.compile(rf"(?<![\d./-])({_YEAR})(?![\d/-]|\.\d)")
# What says best when a document was published, first match wins.
_SAYS_YEAR = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"\b(?:first |e)?publi(?:shed|cation)\b(?: online)?(?: as .{{0,40}}? at \w+)?(?: "
            rf"date)?"
            rf"[:\s]+(?:in |on )?[^.;©]{{0,25}}?({_YEAR})\b"
        ),
        (rf"(?:©|\(c\)|copyright|⃝|�)\W{{0,4}}(?:\D{{0,60}}?)({_YEAR})\b"),
        (rf"\b({_YEAR})\s?;\s?\d+\s?(?:\(|:|, )"),
        (rf"\b(?:vol(?:ume|\.)?|no\.?|issue|pp?\.)\W.{{0,40}}?\b({_YEAR})\b"),
        (rf"\(({_YEAR})\)\W{{0,3}}\d+\s?[:(,]|\b\d+\s?\(({_YEAR})\)|\(({_YEAR})\),?\s+\d+"),
        (rf"\b({_YEAR})\b.{{0,12}}\bvol\b|\b({_YEAR})\s*年\s*第?|第\s*\d+\s*卷.{{0,20}}?({_YEAR})"),
        # A line that begins with a small letter goes on with a sentence: "for the proceedings of".
        (
            rf"(?-i:^(?=[^a-z]).*?)\b(?:proceedings|conference|workshop|symposium|actes|"
            rf"advances in|iclr|icml|neurips|nips|acl|naacl|emnlp|cvpr|taln|recital|"
            rf"traitement automatique)\b.{{0,90}}?\b({_YEAR})\b"
        ),
        rf"\b(?:to appear|appear(?:s|ed|ing)|presented)\s+(?:in|at)\b.{{0,90}}?\b({_YEAR})\b",
        (rf"arxiv:\S+ .{{0,20}}\b\d{{1,2}} \w{{3}} ({_YEAR})\b"),
        # Of a thesis: Санкт-Петербург, 2017 г.
        (rf"^\w[^.;]{{0,40}}, ({_YEAR}) г\.?$"),
        (
            rf"\b(?:accepted|revised|dated|soutenue|defended|aceito)\b.{{0,30}}?\b({_YEAR})\b|"
            rf"定稿日期[:：]\s*({_YEAR})|(?:录用|修回)日期[:：]\s*({_YEAR})"
        ),
        (
            rf"\b(?:received|submitted|draft|version)\b.{{0,30}}?\b({_YEAR})\b|"
            rf"收稿日期[:：]\s*({_YEAR})"
        ),
    )
)
# The identifier of a preprint begins with year and month: arXiv:1706.03762, hep-ph/9412269.
_PREPRINT = re.compile(
    r"\barXiv:\s?(?P<new>\d\d)(?:0[1-9]|1[0-2])\.\d{4,5}|\b(?:arXiv:\s?)?(?:astro-ph|cond-mat|gr-qc|"
    r"hep-(?:ex|lat|ph|th)|math|math-ph|nlin|nucl-(?:ex|th)|physics|quant-ph|q-bio|cs|cmp-lg)"
    r"(?:\.[A-Z]{2})?/(?P<old>\d\d)(?:0[1-9]|1[0-2])\d{3}\b"
)
_FIRST_PREPRINT_YEAR = 91


def find_doi(lines: Sequence[Line], metadata: Mapping[str, Any]) -> str | None:
    """Return the document's own DOI, lower case, without the resolver's address.

    Args:
        lines: of the first page down to its references, heads and feet included; a DOI further
            inside belongs to something cited.
        metadata: the PDF's document information.
    """
    printed = [line.text for line in lines]
    joined = [
        line + after
        for line, after in pairwise(printed)
        if line.endswith("/") or (line.endswith(".") and after[0].isdigit())
    ]
    stated = [str(metadata.get(key) or "") for key in ("subject", "doi", "title", "keywords")]
    labelled = [text for text in (*printed, *stated, *joined) if _DOI_LABEL.search(text)]
    bare = [text for text in (*stated, *printed) if not _DOI_LABEL.search(text)]
    found = list(_dois((*labelled, *bare)))
    own = [doi for doi in found if not doi.startswith(_DATA_PREFIXES)] or found
    if not own:
        return None
    # A line's end may have cut the first one.
    return max((doi for doi in own if doi.startswith(own[0])), key=len)


def _dois(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for match in _DOI.finditer(text):
            doi = _trimmed(match.group())
            prefix, _, suffix = doi.partition("/")
            if len(suffix) >= _MIN_SUFFIX and not _PLACEHOLDER.search(doi):
                yield f"{prefix}/{suffix}"


def _trimmed(doi: str) -> str:
    doi = doi.lower()
    while doi and (doi[-1] in ".,;:'*†/" or _is_unopened(doi)):
        doi = doi[:-1]
    return doi


def _is_unopened(doi: str) -> bool:
    return any(
        doi.endswith(closing) and doi.count(closing) > doi.count(opening)
        for opening, closing in ("()", "[]")
    )


def find_year(lines: Sequence[Line], metadata: Mapping[str, Any]) -> int | None:
    """Return the year of publication, None where the document does not say.

    In this order: a date of publication, a copyright line, the head of a journal or proceedings,
    the stamp of arXiv, the date of acceptance, then of submission, the subject in the metadata, the
    identifier of a preprint, a date that stands alone on the first page. The date at which the file
    was made is not taken: it is that of a scan or of a reprint as often as not.

    Args:
        lines: of the first page, heads and feet included.
        metadata: the PDF's document information.
    """
    texts = [line.text for line in lines]
    # "Proceedings of the 30th VLDB Conference," / "Toronto, Canada, 2004"
    texts += [f"{line} {after}" for line, after in pairwise(texts) if line.endswith(",")]
    for pattern in _SAYS_YEAR:
        years = [year for text in texts if (year := _year_in(pattern, text))]
        if years:
            return max(years)
    subject = _ANY_YEAR.search(str(metadata.get("subject") or ""))
    if subject:
        return int(subject[1])
    preprint = next(filter(None, map(_PREPRINT.search, texts)), None)
    if preprint:
        digits = int(preprint["new"] or preprint["old"])
        return digits + (1900 if digits >= _FIRST_PREPRINT_YEAR and preprint["old"] else 2000)
    dates = [text for text in texts if DATE.search(text) or _ANY_YEAR.fullmatch(text.strip(" .()"))]
    found = [int(match[1]) for text in dates if (match := _ANY_YEAR.search(text)) is not None]
    return found[0] if found else None


def _year_in(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    if match is None:
        return None
    return next(int(group) for group in match.groups() if group)


# The front matter of a paper: title, authors, year and DOI, and the paragraphs that hold them.


_AFFILIATION = re.compile(r"\W*(?:\d{1,2}|[a-z]|\W)\s?[A-ZÀ-Þ]")
# A paragraph of so many words is prose, unless its words are those of a notice or an address.
_PROSE_WORDS = 25
# A cover has no paragraph of prose and fewer words than a page of text (some 400).
_MAX_COVER_WORDS = 220
# Licences, correspondence and the histories of a manuscript are shorter than so many words.
_MAX_NOTICE_WORDS = 130
# Between title and abstract stand names, addresses and dates: more paragraphs are body text.
_MAX_FRONT_PARAGRAPHS = 60
# Abstracts of papers begin on the first page, seldom behind a cover.
_CUT_PAGES = 3


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a document says of itself."""

    title: str | None
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    imprint: Imprint = field(default_factory=Imprint)


def first_page_blocks(pages: Sequence[Page]) -> tuple[tuple[Line, ...], ...]:
    """Return the blocks of the first page, to be kept before heads and feet are taken out.

    A journal prints its year, volume and pages and the DOI there.
    """
    return tuple(tuple(block) for block in pages[0].blocks) if pages else ()


def mark_front_matter(
    paragraphs: list[Paragraph],
    pages: Sequence[Page],
    metadata: Mapping[str, Any],
    first_page: Sequence[Sequence[Line]] = (),
    running_heads: Sequence[str] = (),
) -> FrontMatter:
    """Find the front matter and give its paragraphs the kinds `title` and `front`, in place.

    Args:
        paragraphs: of the whole document, in reading order; one that holds a title and something
            else is cut in place.
        pages: heads and feet removed.
        metadata: the PDF's document information.
        first_page: the first page's blocks with heads and feet.
        running_heads: the heads and feet that were removed.
    """
    title = find_title(str(metadata.get("title") or ""), pages, running_heads)
    own_lines = _before_references(
        [
            line
            for block in first_page
            if not any(REFERENCE_ENTRY.search(line.text) for line in block)
            for line in block
        ]
    )
    height = pages[0].height if pages else 0.0
    printed = title.text if title else None
    imprint = find_imprint(first_page, height, len(pages), metadata, printed or "")
    # The year of the volume is that by which a paper is cited, not that of its first web page.
    year = imprint.year or find_year(own_lines, metadata)
    doi = find_doi(own_lines, metadata)
    if title is None or not title.lines:
        return FrontMatter(printed, (), year, doi, imprint)
    _cut_at_heads(paragraphs)
    index = _mark_title(paragraphs, title)
    if index is None:
        return FrontMatter(printed, (), year, doi, imprint)
    end = _front_end(paragraphs, index)
    authors = _authors_of(paragraphs, index, end)
    _mark_front(paragraphs, index, end)
    return FrontMatter(printed, authors, year, doi, imprint)


def _before_references(lines: Sequence[Line]) -> Sequence[Line]:
    for index, line in enumerate(lines):
        if REFERENCES_HEAD.fullmatch(line.text):
            return lines[:index]
    return lines


def _mark_title(paragraphs: list[Paragraph], title: Title) -> int | None:
    """Mark the paragraphs of the title; return the index of the last, None without any."""
    wanted = {id(line) for line in title.lines}
    last = None
    index = 0
    while index < len(paragraphs):
        paragraph = paragraphs[index]
        flags = [id(line) in wanted for line in paragraph.lines]
        if any(flags):
            if not all(flags):
                pieces = _cut(paragraph, flags)
                paragraphs[index : index + 1] = pieces
                continue
            if last is not None and last == index - 1:
                whole = make_paragraph([*paragraphs[last].lines, *paragraph.lines], paragraph.page)
                whole.kind = "title"
                paragraphs[last : index + 1] = [whole]
                continue
            paragraph.kind, paragraph.level = "title", None
            last = index
        elif last is not None and paragraph.page > paragraphs[last].page:
            break
        index += 1
    return last


def _cut_at_heads(paragraphs: list[Paragraph]) -> None:
    """Cut paragraphs of the first pages where a line is the head of an abstract or of keywords."""
    index = 0
    while index < len(paragraphs) and paragraphs[index].page <= _CUT_PAGES:
        paragraph = paragraphs[index]
        lines = paragraph.lines
        for number in range(1, len(lines)):
            line, before = lines[number], lines[number - 1]
            is_head = _is_head(line.text) and not before.shares_row(line)
            if (
                is_head
                or _is_head(before.text)
                or (
                    KEYWORDS.match(line.text)
                    and (ends_sentence(before.text) or before.bold != line.bold)
                )
            ):
                pieces = _cut(paragraph, [place >= number for place in range(len(lines))])
                paragraphs[index : index + 1] = pieces
                break
        index += 1


def _is_head(text: str) -> bool:
    match = ABSTRACT_HEAD.match(text)
    return match is not None and not text[match.end() :].strip(" .:：-—–*")


def _cut(paragraph: Paragraph, flags: Sequence[bool]) -> list[Paragraph]:
    groups: list[list[Line]] = []
    before: bool | None = None
    for line, flag in zip(paragraph.lines, flags, strict=True):
        if flag != before:
            groups.append([])
        groups[-1].append(line)
        before = flag
    return [make_paragraph(group, paragraph.page) for group in groups]


def _front_end(paragraphs: Sequence[Paragraph], title: int) -> int:
    """Return the index behind the last paragraph of the front matter that follows the title."""
    page = paragraphs[title].page
    limit = min(len(paragraphs), title + 1 + _MAX_FRONT_PARAGRAPHS)
    end = title + 1
    while end < limit and paragraphs[end].page == page:
        if _begins_text(paragraphs[end]):
            return end
        end += 1
    on_page = [item for item in paragraphs if item.page == page]
    words = sum(word_count(item.text) for item in on_page)
    if end < limit and words <= _MAX_COVER_WORDS and not any(_is_prose(item) for item in on_page):
        return end
    # No abstract and no first heading: only what looks like front matter.
    end = title + 1
    while end < limit and paragraphs[end].page == page and _looks_like_front(paragraphs[end]):
        end += 1
    return end


def _begins_text(paragraph: Paragraph) -> bool:
    text = paragraph.text
    return bool(
        ABSTRACT_HEAD.match(text)
        or KEYWORDS.match(text)
        or FIRST_SECTION.fullmatch(text)
        or _is_prose(paragraph)
    )


def _is_prose(paragraph: Paragraph) -> bool:
    return word_count(paragraph.text) >= _PROSE_WORDS and not _looks_like_front(paragraph)


def _looks_like_front(paragraph: Paragraph) -> bool:
    text = paragraph.text
    words = word_count(text)
    if words > _MAX_NOTICE_WORDS:
        return False
    institutions = len(INSTITUTION.findall(text))
    return bool(
        (RECEIVED.search(text) and words < _PROSE_WORDS)
        or CORRESPONDENCE.match(text)
        or ARTICLE_TYPE.fullmatch(text)
        or (DATE.search(text) and words < _PROSE_WORDS)
        or (NOTICE.search(text) is not None and not text[0].islower())
        or (EMAIL.search(text) is not None and words < 2 * _PROSE_WORDS)
        or institutions * _PROSE_WORDS >= words > 0
        or is_name_line(text)
        or all(is_name_line(line.text) for line in paragraph.lines)
        or (SERIAL.search(text) and words < _PROSE_WORDS)
    )


def _authors_of(paragraphs: Sequence[Paragraph], title: int, end: int) -> tuple[str, ...]:
    """Return the names below the title, else those above it on its page (covers of theses)."""
    below = [line for item in paragraphs[title + 1 : end] for line in item.lines]
    names, _ = find_authors(below)
    if names:
        return names
    page = paragraphs[title].page
    above = [
        line
        for item in paragraphs[:title]
        if item.page == page and item.kind != "title"
        for line in item.lines
    ]
    return find_authors(above)[0]


def _mark_front(paragraphs: Sequence[Paragraph], title: int, end: int) -> None:
    page = paragraphs[title].page
    for index, paragraph in enumerate(paragraphs):
        if paragraph.page > page:
            break
        if paragraph.kind != "paragraph":
            continue
        is_above_text = index < end and not (index < title and _is_prose(paragraph))
        if is_above_text or _is_notice(paragraph):
            paragraph.kind = "front"


def _is_notice(paragraph: Paragraph) -> bool:
    """Tell whether a paragraph beside the text is about the paper: history, address, licence."""
    text = paragraph.text
    if word_count(text) > _MAX_NOTICE_WORDS or KEYWORDS.match(text):
        return False
    opening = text[:60]
    return bool(
        CORRESPONDENCE.match(text)
        or RECEIVED.match(text)
        or (NOTICE.search(opening) and not text[0].islower())
        or len(NOTICE.findall(text)) > 1
        or (_AFFILIATION.match(text) and len(INSTITUTION.findall(text)) > 1)
    )
