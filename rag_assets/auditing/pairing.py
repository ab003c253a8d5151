"""Which document of the library an entry of a reference list means."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rapidfuzz import fuzz

from rag_assets.auditing.references import Entry, family_name, fold
from rag_assets.model import HAN, HAN_RANGES


@dataclass(frozen=True, slots=True)
class Known:
    """What a library knows of a document, to recognise it in a reference list.

    Args:
        authors: printed names.
        key: citation key; empty without one.
        head: how its text begins: title page and abstract.
        files: names of its files, without folder and suffix.
    """

    namespace: str
    doc_uid: str
    title: str
    authors: tuple[str, ...] = ()
    year: str = ""
    doi: str = ""
    key: str = ""
    head: str = ""
    files: tuple[str, ...] = ()


PairingState = Literal["paired", "unsure", "unpaired"]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which document an entry means.

    Args:
        document: (namespace, doc_uid); None unless paired.
        certainty: 0 to 1; what the evidence adds up to.
        reason: the evidence in words.
        candidates: nearest documents, best first, with what speaks for each.
    """

    state: PairingState
    document: tuple[str, str] | None
    certainty: float
    reason: str
    candidates: tuple[tuple[tuple[str, str], str], ...] = ()


# Measured on entries made from papers' metadata in eight styles with typing errors
# (benchmarks/pairing.py): from here on two titles are the same one, or nearly.
SAME_TITLE, _LIKE_TITLE = 92.0, 84.0
# Shorter titles are part of many sentences; counted in letters, Chinese ones in characters.
_SHORT_TITLE, _SHORT_HAN_TITLE = 16, 6
_SURE, _LIKELY = 0.75, 0.45
# A title that is the same is enough, unless authors or year say otherwise.
_TITLE_ALONE = 0.75
# Words of a title, to say that another one has most of them.
_FEWEST_STEMS, _MOST_WORDS = 4, 0.8
_FEWEST_SHARED = 1 / 3
# Characters of a document within which its own authors and year stand.
FIRST_PAGE = 1800
_MARGIN = 0.12
_FAMILY_ALIKE = 85.0
_NO_NAME = frozenset({"anonymous", "anon", "佚名", "匿名", "匿名作者", "不详", "noauthor"})
_MOST_CANDIDATES = 3


def is_same_work(entry: Entry, other: Entry) -> bool:
    """Say whether two entries are of one work: the same DOI, or the same title and authors."""
    if entry.text == other.text:
        return True
    if entry.doi and other.doi:
        return entry.doi == other.doi
    title = fold(entry.title or entry.text)
    if not _is_long(title) or fuzz.ratio(title, fold(other.title or other.text)) < SAME_TITLE:
        return False
    # Another edition or version has another year.
    if entry.year[:4] != other.year[:4] and entry.year and other.year:
        return False
    names, others = ({fold(name) for name in one.authors} for one in (entry, other))
    return not names or not others or bool(names & others)


def _is_long(folded: str) -> bool:
    return len(folded) >= (_SHORT_HAN_TITLE if HAN.search(folded) else _SHORT_TITLE)


def title_likeness(title: str, text: str) -> float:
    """Return how much of a folded title a folded text holds in one place, 0 to 100."""
    if not _is_long(title) or len(text) < len(title) * 0.6:
        return 0.0
    likeness = fuzz.partial_ratio if len(title) <= len(text) else fuzz.ratio
    # What is less alike counts for nothing, and is known to be so in a third of the time.
    return likeness(title, text, score_cutoff=_LIKE_TITLE)


def pair(entry: Entry, library: Sequence[Known]) -> Pairing:
    """Return the document of the library that an entry means.

    By DOI, then title, then authors and year; what contradicts counts against it.
    """
    near_by = [known for known in library if _may_be(entry, known)]
    scored = sorted(((*weigh(entry, known), known) for known in near_by), key=lambda each: -each[0])
    near = [each for each in scored if each[0] > 0.2][:_MOST_CANDIDATES]
    candidates = tuple(((k.namespace, k.doc_uid), why) for _, why, k in near)
    if not near or near[0][0] < _LIKELY:
        nearest = f"Nearest: {near[0][2].doc_uid} ({near[0][1]})" if near else ""
        return Pairing("unpaired", None, near[0][0] if near else 0.0,
                       nearest, candidates)  # fmt: skip
    score, why, best = near[0]
    rivals = [each for each in near[1:] if each[0] > score - _MARGIN]
    if score < _SURE or rivals:
        return Pairing("unsure", None, score, why, candidates)
    return Pairing("paired", (best.namespace, best.doc_uid), score, why, candidates)


def _may_be(entry: Entry, known: Known) -> bool:
    """Say whether a document has the entry's DOI, a third of its title's words, or an author of it;
    the others, nearly all of a large library, need not be weighed.
    """
    if entry.doi and entry.doi == known.doi.lower():
        return True
    words = _words_of(known)
    wanted = _stems(entry.title or entry.text)
    if len(wanted & words) >= len(wanted) * _FEWEST_SHARED:
        return True
    return any(_stems(name) & words or HAN.search(name) for name in entry.authors[:3])


@lru_cache(maxsize=65536)
def _words_of(known: Known) -> frozenset[str]:
    return frozenset(_stems("\n".join([known.title, *known.files, *known.authors, known.head])))


def weigh(entry: Entry, known: Known) -> tuple[float, str]:
    """Return how much speaks for a document, 0 to 1, and the evidence in words."""
    reasons: list[str] = []
    score = 0.0
    if entry.doi and (entry.doi == known.doi.lower() or fold(entry.doi) in fold(known.head)):
        reasons.append("same DOI")
        score = 0.6
    title = _title_score(entry, known)
    names = _names_alike(entry, known)
    if title >= SAME_TITLE:
        score += _TITLE_ALONE
        reasons.append(f"title {title:.0f} % alike")
    elif title >= _LIKE_TITLE and (score or (names and names[0])):
        score += 0.45
        reasons.append(f"title {title:.0f} % alike")
    elif score and known.title and _is_long(fold(entry.title)):
        score -= 0.3
        reasons.append("but another title")
    if names is not None and names[0]:
        score += 0.2 * names[0] / names[1] + 0.1
        reasons.append(f"{names[0]} of {names[1]} authors" if names[1] > 1 else "the author")
    elif names is not None and score:
        score -= 0.25
        reasons.append("but other authors")
    gap = _year_gap(entry.year[:4], known)
    if gap == 0:
        score += 0.1
        reasons.append(f"year {entry.year[:4]}")
    elif gap == 1:
        reasons.append(f"year {entry.year[:4]} for {known.year}")
    elif gap is not None:
        # Another edition, or another work of that title.
        score = min(score, _SURE - 0.01)
        reasons.append(f"but year {entry.year[:4]} for {known.year}")
    if not entry.title and gap == 0 and names is not None and names[0] == names[1]:
        score += 0.4  # authors and year are all that the draft gives
    if title < _LIKE_TITLE and _is_long(fold(entry.title)) and "same DOI" not in reasons:
        # An entry that has a title means no work of another one.
        score = min(score, 0.3)
    return max(0.0, min(score, 1.0)), ", ".join(reasons)


def _year_gap(year: str, known: Known) -> int | None:
    """Return how many years lie between an entry and a document; None where one is unknown."""
    if not year.isdigit():
        return None
    if known.year.isdigit():
        return abs(int(year) - int(known.year))
    return 0 if year in known.head[:FIRST_PAGE] else None


def _title_score(entry: Entry, known: Known) -> float:
    """Return how alike the titles are, 0 to 100.

    The title that the library knows may be wrong, so that the first page counts too.
    """
    text, title, printed = fold(entry.text), fold(entry.title), fold(known.title)
    names = [printed, *(fold(name) for name in known.files)]
    likeness = max(title_likeness(name, text) for name in names)
    if title:
        # Subtitles are left out: `Bigtable` for `Bigtable: A distributed …`.
        if printed.startswith(title) and (
            _is_long(title) or known.title[len(entry.title) :][:1] == ":"
        ):
            return 100.0 if _is_long(title) else 85.0
        if title == printed:
            return 100.0
    if likeness < SAME_TITLE:
        head, first = fold(known.head), fold(known.head[:FIRST_PAGE])
        for part in _title_parts(entry):
            found = title_likeness(part, head)
            # Farther on, what is only like a title is that of another work that is cited.
            likeness = max(likeness, found if found >= SAME_TITLE else title_likeness(part, first))
    share = _share_of_words(entry.title or entry.text, known.title)
    return max(likeness, _LIKE_TITLE) if share >= _MOST_WORDS else likeness


def _share_of_words(title: str, other: str) -> float:
    """Return the share of a title's words that another one has, in whatever order and ending."""
    wanted, there = _stems(title), _stems(other)
    return len(wanted & there) / len(wanted) if len(wanted) >= _FEWEST_STEMS else 0.0


def _stems(title: str) -> set[str]:
    words = {fold(word)[:5] for word in re.findall(r"[^\W\d_]{4,}", HAN.sub(" ", title))}
    han = re.findall(f"(?=([{HAN_RANGES}]{{2}}))", title)
    return {word.replace("ae", "e") for word in words} | set(han)


def _title_parts(entry: Entry) -> Iterator[str]:
    """Yield what may be a title: the one that was read, and parts of the text as long as one."""
    if entry.title:
        yield fold(entry.title)
        # 题名 [English title] or the other way round.
        for inside in re.findall(r"[\[［(（]([^\[\]［］()（）]{6,200})[\]］)）]", entry.text):
            yield fold(inside)
        return
    for part in re.split(r"[.．。]\s|[“”\"?？\[\]［］]", entry.text):
        if len(part) >= _SHORT_TITLE:
            yield fold(part)


def _names_alike(entry: Entry, known: Known) -> tuple[int, int] | None:
    """Return how many of the entry's first authors the document has, of how many; None where
    either side names none, or they are written in other scripts.
    """
    names = [fold(name) for name in entry.authors[:6]]
    names = [name for name in names if len(name) > 1 and not is_nameless(name)]
    if not names:
        return None
    printed = {fold(family_name(name)) for name in known.authors} - {""}
    head = fold(known.head[:FIRST_PAGE])
    is_han = any(HAN.search(name) for name in names)

    def is_author(name: str) -> bool:
        if name in printed or any(len(name) > 2 and name in other for other in printed):
            return True
        if any(fuzz.ratio(name, other) >= _FAMILY_ALIKE for other in printed):
            return True
        return name in head and (len(name) >= 4 or is_han)

    shared = sum(map(is_author, names))
    # Who wrote it is not known, or only in another script: then nothing speaks against it.
    if not shared and (not printed or is_han != any(HAN.search(name) for name in printed)):
        return None
    return shared, len(names)


def is_nameless(name: str) -> bool:
    """Say whether a folded author is nobody: Anonymous, 佚名."""
    return name in _NO_NAME or fuzz.ratio(name, "anonymous") >= _FAMILY_ALIKE
