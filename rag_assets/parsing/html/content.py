"""Which pieces of a page are its content: four extractors vote on every piece.

No extractor is right on every page: each misses whole articles on some (measured: lowest token F1
between 0.00 and 0.58 on 25 pages), but seldom two of them the same piece. So none of their results
is taken as it stands. Each is a voter over the pieces of the page's own tree, whose structure
stays; trafilatura, the best one alone, has two votes of five. What the votes leave ragged is
mended by the tree: an item belongs to its list, a paragraph to the two kept ones around it, a
heading to what stands below it, and a table or listing between kept text is content.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rag_assets.parsing.html.dom import Piece, parse_page

VOTER_PACKAGES = ("trafilatura", "resiliparse", "lxml")

# More than half of all votes.
_VOTES_NEEDED = 3
# A voter keeps a piece where it has at least half of its word sequences.
_MIN_SUPPORT = 0.5
_SEQUENCE_WORDS = 5
# Shorter pieces ("Home", "More") stand somewhere in most texts: they need kept text around them.
_MIN_ANCHOR_WORDS = 4
# How far before the first and behind the last kept text a short piece may stand.
_MARGIN_PIECES = 3
# A list or table of which more is links leads away from the page.
_MAX_LINKED_SHARE = 0.5
# Larger pages are documents of one text (a standard, a book), for which the voters are too slow.
_MAX_VOTED_CHARACTERS = 4_000_000
# libxml2's own limit of depth, within which C recursion is safe.
_MAX_VOTED_DEPTH = 255
# A page whose voters keep less than this share of what is neither furniture nor links, and of
# whose rest most stands in tables, lists and forms, is no article.
_MIN_KEPT_SHARE = 0.5
_MIN_ARTICLE_SHARE = 0.1
# trafilatura's own MIN_EXTRACTED_SIZE: below it nothing was found.
_MIN_CONTENT_CHARACTERS = 250
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")

Words = tuple[str, ...]


def choose_content(page: str, pieces: Sequence[Piece], depth: int) -> tuple[list[Piece], bool]:
    """Return (the content among `pieces`, whether it is an article).

    A page that is no article (a table, a form, a directory) keeps all but what its own markup
    calls furniture and lists that are only links.

    Args:
        page: the page's source, decoded.
        pieces: all visible ones, in order.
        depth: of the page's elements.
    """
    words = [_words(piece.text) for piece in pieces]
    whole = [index for index, piece in enumerate(pieces) if not piece.is_furniture]
    if len(page) > _MAX_VOTED_CHARACTERS or depth > _MAX_VOTED_DEPTH:
        return [pieces[index] for index in whole], False
    kept = _mend(pieces, words, _elect(page, words))
    if _is_too_little(pieces, kept, whole):
        return [pieces[index] for index in whole], False
    return [pieces[index] for index in sorted(kept)], True


def _words(text: str) -> Words:
    return tuple(_WORD.findall(text.lower()))


def _elect(page: str, words: Sequence[Words]) -> set[int]:
    """Return the pieces that more than half of the votes keep."""
    votes = [0] * len(words)
    for voter, weight in _VOTERS.items():
        sequences = _sequences(_words(voter(page)))
        for index, piece in enumerate(words):
            if piece and _support(piece, sequences) >= _MIN_SUPPORT:
                votes[index] += weight
    return {index for index, count in enumerate(votes) if count >= _VOTES_NEEDED}


def _sequences(words: Words) -> set[Words]:
    return {
        words[start : start + length]
        for length in range(1, _SEQUENCE_WORDS + 1)
        for start in range(len(words) - length + 1)
    }


def _support(piece: Words, sequences: set[Words]) -> float:
    length = min(_SEQUENCE_WORDS, len(piece))
    count = len(piece) - length + 1
    found = sum(piece[start : start + length] in sequences for start in range(count))
    return found / count


def _mend(pieces: Sequence[Piece], words: Sequence[Words], elected: set[int]) -> set[int]:
    anchors = [index for index in sorted(elected) if len(words[index]) >= _MIN_ANCHOR_WORDS]
    if not anchors:
        return elected
    first, last = anchors[0], anchors[-1]
    kept = {i for i in elected if first - _MARGIN_PIECES <= i <= last + _MARGIN_PIECES}
    added, dropped = _whole_lists(pieces, kept)
    kept = (kept | added) - dropped
    for index in range(first + 1, last):
        piece = pieces[index]
        if index in kept or piece.is_furniture or _is_linked(piece):
            continue
        beside = {index - 1, index + 1} <= kept
        if piece.kind in {"table", "code", "formula"} or (
            beside and _parent(piece) is _parent(pieces[index - 1]) is _parent(pieces[index + 1])
        ):
            kept.add(index)
    return kept | _headings_above(pieces, kept) | _figures_between(pieces, kept)


def _whole_lists(pieces: Sequence[Piece], kept: set[int]) -> tuple[set[int], set[int]]:
    """Return (items to add, items to drop), so that lists are kept or left out whole.

    Of a list at least half of whose text is kept, all items are; of any other that is mostly
    links (contents, related pages), none.
    """
    lists: dict[Any, list[int]] = {}
    for index, piece in enumerate(pieces):
        if piece.kind in {"list", "footnote"}:
            holder = next((e for e in reversed(piece.path) if e.tag in {"ul", "ol", "dl"}), None)
            if holder is not None:
                lists.setdefault(holder, []).append(index)
    added: set[int] = set()
    dropped: set[int] = set()
    for items in lists.values():
        size = sum(len(pieces[index].text) for index in items)
        linked = sum(pieces[index].linked for index in items)
        if 2 * sum(len(pieces[index].text) for index in items if index in kept) >= size:
            added.update(items)
        elif linked > _MAX_LINKED_SHARE * size:
            dropped.update(items)
    return added, dropped


def _headings_above(pieces: Sequence[Piece], kept: set[int]) -> set[int]:
    """Return the headings that stand directly above kept text, one above the other included."""
    added: set[int] = set()
    for index in sorted(kept, reverse=True):
        above = index - 1
        while above >= 0 and above not in kept and pieces[above].kind == "heading":
            if pieces[above].is_furniture or _is_linked(pieces[above]):
                break
            added.add(above)
            above -= 1
    return added


def _figures_between(pieces: Sequence[Piece], kept: set[int]) -> set[int]:
    """Return figures, with their captions, whose nearest text on either side is kept."""
    added: set[int] = set()
    texts = [i for i, piece in enumerate(pieces) if piece.kind not in {"figure", "caption"}]
    before = -1
    for after in [*texts, len(pieces)]:
        around = before in kept and (after in kept or after == len(pieces))
        if around:
            added.update(i for i in range(before + 1, after) if not pieces[i].is_furniture)
        before = after
    return added


def _parent(piece: Piece) -> Any:
    return piece.path[-2] if len(piece.path) > 1 else None


def _is_linked(piece: Piece) -> bool:
    return piece.linked > _MAX_LINKED_SHARE * max(1, len(piece.text))


def _is_too_little(pieces: Sequence[Piece], kept: set[int], whole: Sequence[int]) -> bool:
    """Tell whether the votes have missed a page that is no article."""
    own = [i for i in whole if not _is_linked(pieces[i])]
    size = sum(len(pieces[index].text) for index in own)
    kept_size = sum(len(pieces[index].text) for index in kept)
    if size <= _MIN_CONTENT_CHARACTERS:
        return True
    if kept_size < min(_MIN_CONTENT_CHARACTERS, _MIN_ARTICLE_SHARE * size):
        return True
    if kept_size >= _MIN_KEPT_SHARE * size:
        return False
    tabular = sum(len(pieces[i].text) for i in own if pieces[i].kind in {"table", "code"})
    return tabular >= _MIN_KEPT_SHARE * size


def _by_trafilatura(page: str) -> str:
    import trafilatura

    return trafilatura.extract(parse_page(page), include_comments=False, include_tables=True) or ""


def _by_density(page: str) -> str:
    """Return what trafilatura's baseline keeps: the stated article, else all paragraphs."""
    import trafilatura

    return trafilatura.baseline(parse_page(page))[1]


def _by_readability(page: str) -> str:
    import lxml.html
    from trafilatura.readability_lxml import Document

    summary = Document(parse_page(page)).summary()
    return " ".join(lxml.html.fromstring(summary).itertext()) if summary.strip() else ""


def _by_resiliparse(page: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return str(extract_plain_text(page, main_content=True, alt_texts=False, list_bullets=False))


_VOTERS: Mapping[Callable[[str], str], int] = {
    _by_trafilatura: 2,
    _by_readability: 1,
    _by_resiliparse: 1,
    _by_density: 1,
}
