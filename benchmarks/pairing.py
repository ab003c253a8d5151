"""Measure how citations as printed are paired with documents.

    python -m benchmarks.pairing [--seeds 3] [--show]

Makes drafts by program from what the papers of $RAG_SHARED_DATA say of themselves: each cited by
number or by author and year, in nine reference styles, a third of the entries with a typing error
or the slips that people make. A fifth of the papers is not in the library. Prints the share of
citations that mean the right document, or rightly none, and of those that mean a wrong one.
"""

import argparse
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rag_assets.auditing.citation_forms import WrittenCitation
from rag_assets.auditing.pairing import Known, Pairing, pair
from rag_assets.auditing.references import find_list
from rag_assets.auditing.written import ReferenceIndex, find_written
from rag_assets.evidence.bibliography import PersonName, split_names
from rag_assets.model import HAN
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import shipped_settings

_HEAD = 5000
_SHARE_HELD_BACK = 0.2
_SHARE_WITH_SLIP = 1 / 3


@dataclass(frozen=True)
class Work:
    """A paper: its true title, its authors, and what a library knows of it."""

    title: str
    authors: tuple[PersonName, ...]
    year: str
    known: Known

    @property
    def is_chinese(self) -> bool:
        """Whether its reference is written in Chinese."""
        return HAN.search(self.title) is not None


def read_works(shared: Path) -> list[Work]:
    """Return the papers with a title, authors and a year; titles from their sources where known."""
    titles = {}
    for path in sorted((shared / "sections").glob("*.headings.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            titles[Path(row["pdf"]).name] = row["title"]
    works = []
    settings = shipped_settings().parse
    for path in sorted((shared / "papers").glob("*.pdf")):
        parsed = parse_document(path.read_bytes(), ParseHints(extension="pdf"), settings)
        title = titles.get(path.name) or parsed.title or ""
        names = [name for printed in parsed.authors or () for name in split_names(printed)]
        people = tuple(name for name in names if name.family)
        if len(title) < 8 or not people:
            continue
        known = Known(
            "papers", path.stem, parsed.title or "", tuple(parsed.authors or ()),
            str(parsed.year or ""), parsed.doi or "", "", parsed.text[:_HEAD], (path.stem,),
        )  # fmt: skip
        works.append(Work(title, people, str(parsed.year or 2000 + len(works) % 20), known))
    return with_letters(works)


def with_letters(works: Sequence[Work]) -> list[Work]:
    """Return works whose years have the letters that styles ask for: one author, one year."""
    same = Counter((work.authors[0].family, work.year) for work in works)
    seen: Counter[tuple[str, str]] = Counter()
    lettered = []
    for work in works:
        key = (work.authors[0].family, work.year)
        letter = chr(ord("a") + seen[key]) if same[key] > 1 else ""
        seen[key] += 1
        lettered.append(replace(work, year=work.year + letter))
    return lettered


def _initials(name: PersonName, mark: str, between: str = "") -> str:
    letters = [word[0].upper() for word in name.given.replace("-", " ").split() if word]
    return between.join(letter + mark for letter in letters)


def _family(name: PersonName) -> str:
    return f"{name.particle} {name.family}".strip()


def _apa(work: Work) -> str:
    names = [f"{_family(n)}, {_initials(n, '.', ' ')}" for n in work.authors]
    joined = names[0] if len(names) == 1 else f"{', '.join(names[:-1])}, & {names[-1]}"
    return f"{joined} ({work.year}). {work.title}. *Journal of Things*, *12*(3), 45–67."


def _harvard(work: Work) -> str:
    names = [f"{_family(n)}, {_initials(n, '.')}" for n in work.authors]
    joined = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{joined} ({work.year}) '{work.title}', Journal of Things, 12(3), pp. 45–67."


def _chicago(work: Work) -> str:
    first, *others = work.authors
    names = [f"{_family(first)}, {first.given}", *(f"{n.given} {_family(n)}" for n in others)]
    joined = names[0] if len(names) == 1 else f"{', '.join(names[:-1])}, and {names[-1]}"
    return f"{joined}. {work.year}. “{work.title}.” *Journal of Things* 12 (3): 45–67."


def _mla(work: Work) -> str:
    first = work.authors[0]
    others = ", et al" if len(work.authors) > 2 else ""
    if len(work.authors) == 2:
        others = f", and {work.authors[1].given} {_family(work.authors[1])}"
    return (
        f"{_family(first)}, {first.given}{others}. “{work.title}.” *Journal of Things*, vol. 12, "
        f"no. 3, {work.year}, pp. 45–67."
    )


def _ieee(work: Work) -> str:
    names = [f"{_initials(n, '.', ' ')} {_family(n)}" for n in work.authors]
    joined = names[0] if len(names) == 1 else f"{', '.join(names[:-1])}, and {names[-1]}"
    if len(names) > 6:
        joined = f"{names[0]} *et al.*"
    return f'{joined}, "{work.title}," *J. Things*, vol. 12, no. 3, pp. 45–67, {work.year}.'


def _vancouver(work: Work) -> str:
    names = [f"{_family(n)} {_initials(n, '')}" for n in work.authors[:6]]
    others = ", et al" if len(work.authors) > 6 else ""
    return f"{', '.join(names)}{others}. {work.title}. J Things. {work.year};12(3):45-67."


def _acm(work: Work) -> str:
    names = [f"{n.given} {_family(n)}" for n in work.authors]
    joined = " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])}, and {names[-1]}"
    return f"{joined}. {work.year}. {work.title}. J. Things 12, 3 ({work.year}), 45–67."


def _acl(work: Work) -> str:
    names = [f"{n.given} {_family(n)}" for n in work.authors]
    joined = " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])}, and {names[-1]}"
    return f"{joined}. {work.year}. {work.title}. In *Proceedings of Things*, pages 45–67."


def _gbt(work: Work) -> str:
    names = [
        n.written if n.is_chinese else f"{_family(n).upper()} {_initials(n, '', ' ')}"
        for n in work.authors[:3]
    ]
    others = ("等" if work.is_chinese else "et al") if len(work.authors) > 3 else ""
    joined = ", ".join([*names, *filter(None, [others])])
    journal = "某某学报" if work.is_chinese else "Journal of Things"
    return f"{joined}. {work.title}[J]. {journal}, {work.year}, 12(3): 45-67."


STYLES: dict[str, tuple[Callable[[Work], str], bool]] = {
    "apa": (_apa, False), "harvard": (_harvard, False), "chicago": (_chicago, False),
    "mla": (_mla, False), "acl": (_acl, False), "acm": (_acm, True), "ieee": (_ieee, True),
    "vancouver": (_vancouver, True), "gbt": (_gbt, True),
}  # fmt: skip


def with_slip(entry: str, work: Work, chance: random.Random) -> str:
    """Return an entry with a mistake that people make."""
    title = work.title
    kind = chance.choice(["swap", "drop", "subtitle", "case", "name", "accents"])
    if kind == "subtitle" and ":" in title and title.index(":") > 20:
        return entry.replace(title, title[: title.index(":")])
    if kind == "case":
        return entry.replace(title, title.lower())
    if kind == "name" and len(work.authors[0].family) > 4:
        family = work.authors[0].family
        at = chance.randrange(1, len(family) - 1)
        return entry.replace(family, family[:at] + family[at + 1 :], 1)
    if kind == "accents":
        return entry.translate(
            str.maketrans("áàäâãåéèêëíìïîóòöôõúùüûñç", "aaaaaaeeeeiiiiooooouuuunc")
        )
    at = chance.randrange(1, len(title) - 2)
    swapped = title[:at] + title[at + 1] + title[at] + title[at + 2 :]
    return entry.replace(title, swapped if kind == "swap" else title[:at] + title[at + 1 :])


def in_text(work: Work, chance: random.Random) -> str:
    """Return a sentence that cites a work by author and year."""
    if work.is_chinese and work.authors[0].is_chinese:
        names = work.authors[0].written + ("等" if len(work.authors) > 1 else "")
        return chance.choice(
            [f"这一点已有研究（{names}，{work.year}）。", f"{names}（{work.year}）研究了这一点。"]
        )
    families = [_family(n) for n in work.authors]
    names = families[0] if len(families) == 1 else f"{families[0]} et al."
    if len(families) == 2:
        names = " and ".join(families)
    return chance.choice([
        f"This was shown before ({names}, {work.year}).", f"{names} ({work.year}) found it.",
        f"It holds (see {names.replace(' and ', ' & ')}, {work.year}, p. 46).",
    ])  # fmt: skip


def measure(works: Sequence[Work], seed: int, *, show: bool) -> dict[str, Counter[str]]:
    """Return how many citations were right, missed and wrong, by group."""
    chance = random.Random(seed)
    held_back = set(chance.sample(range(len(works)), int(len(works) * _SHARE_HELD_BACK)))
    library = [work.known for number, work in enumerate(works) if number not in held_back]
    found: dict[str, Counter[str]] = {}
    for style, (write, is_numbered) in STYLES.items():
        # Chinese works are cited by the national standard, whatever the others are.
        entries = [(_gbt if work.is_chinese else write)(work) for work in works]
        entries = [
            with_slip(entry, work, chance) if chance.random() < _SHARE_WITH_SLIP else entry
            for entry, work in zip(entries, works, strict=True)
        ]
        if is_numbered:
            body = "\n\n".join(f"This was shown [{n}]." for n in range(1, len(works) + 1))
            listed = "\n".join(f"[{n}] {entry}" for n, entry in enumerate(entries, 1))
        else:
            body = "\n\n".join(in_text(work, chance) for work in works)
            listed = "\n\n".join(entries)
        text = f"{body}\n\n## References\n\n{listed}\n"
        read, lists = find_list(text)
        written = find_written(text, ReferenceIndex(read), lists)
        pairings = [pair(entry, library) for entry in read]
        paragraphs = body.split("\n\n")
        by_paragraph = {text.count("\n\n", 0, one.start): one for one in written}
        for number, work in enumerate(works):
            group = "chinese" if work.is_chinese else "numeric" if is_numbered else "author-year"
            citation = by_paragraph.get(number)
            wanted = None if number in held_back else work.known.doc_uid
            outcome = _outcome(citation, pairings, wanted)
            found.setdefault(group, Counter())[outcome] += 1
            if show and outcome != "right":
                means = [e for c in citation.citations for e in c.entries] if citation else None
                print(outcome, style, paragraphs[number], means, entries[number][:150], wanted,
                      [pairings[e] for e in means or ()])  # fmt: skip
    return found


def _outcome(
    citation: WrittenCitation | None, pairings: Sequence[Pairing], wanted: str | None
) -> str:
    if citation is None or not citation.citations[0].entries:
        return "missed"
    documents = {pairings[entry].document for entry in citation.citations[0].entries}
    document = documents.pop() if len(documents) == 1 else None
    if document is None:
        return "right" if wanted is None else "missed"
    return "right" if document[1] == wanted else "wrong"


def main() -> None:
    """Print the figures of all seeds together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--show", action="store_true", help="print what was not right")
    arguments = parser.parse_args()
    shared = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data"))
    if not (shared / "papers").is_dir():
        raise SystemExit(f"{shared / 'papers'} is not there: set RAG_SHARED_DATA.")
    works = read_works(shared)
    total: dict[str, Counter[str]] = {}
    for seed in range(arguments.seeds):
        for group, counts in measure(works, seed, show=arguments.show).items():
            total.setdefault(group, Counter()).update(counts)
    print(f"{len(works)} papers, {len(STYLES)} styles, {arguments.seeds} seeds")
    for group, counts in sorted(total.items()):
        every = counts.total()
        shares = [f"{name} {counts[name] / every:.4f}" for name in ("right", "missed", "wrong")]
        print(f"{group:12} {every:6} citations, {', '.join(shares)}")


if __name__ == "__main__":
    main()
