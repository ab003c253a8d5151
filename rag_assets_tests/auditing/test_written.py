"""Citations as printed: which are read, and which entry each means."""

import pytest

from rag_assets.auditing.references import find_list, parse_entry
from rag_assets.auditing.written import ReferenceIndex, find_written

NAMED = """

## References

Dean, J., & Ghemawat, S. (2004). MapReduce: Simplified data processing. *OSDI*, 137–150.

Marco Baroni, Georgiana Dinu, and German Kruszewski. 2014. Don't count, predict! In *ACL*.

Strandberg, E. (2021a). Effects of heavy-load training. *Medicine*, *100*.

Strandberg, E. (2021b). Who makes it all the way? *Care*, *7*.

World Health Organization. (2001). *Iron deficiency anaemia*. WHO.

Woodruff, D. P. (2014). Sketching as a tool. *Foundations*, *10*.

殷昊, 李寿山. 不平衡情绪分类方法[J]. 中文信息学报, 2017.
"""
NUMBERED = "\n\n# 参考文献\n\n" + "\n".join(
    f"[{n}] LEE A. Title number {n}[J]. J, 2001." for n in range(1, 7)
)
KEYED = """

## Literatur

[Knu84] D. Knuth. Literate programming. 1984.
[ABC+01] A. Abel et al. Words. 2001.
"""
ROUND = """

## References

1. Lee A. One. J. 2001.
2. Kim B. Two. J. 2002.
3. Roy C. Three. J. 2003.
"""


def read(body: str, listed: str) -> list[tuple[str, tuple[int, ...]]]:
    text = body + listed
    entries, lists = find_list(text)
    found = find_written(text, ReferenceIndex(entries), lists)
    return [(text[one.start : one.end], each.entries) for one in found for each in one.citations]


@pytest.mark.parametrize(
    ("body", "listed", "entries"),
    [
        ("As Dean and Ghemawat (2004, p. 138) say.", NAMED, [(0,)]),
        ("It is so (see Baroni et al., 2014; Dean & Ghemawat, 2004).", NAMED, [(1,), (0,)]),
        ("Strandberg (2021b) asks; Strandberg (2021) does not.", NAMED, [(3,), (2, 3)]),
        ("Iron (World Health Organization [WHO], 2001) and (WHO, 2001).", NAMED, [(4,), (4,)]),
        ("CountSketch (Woodruff, 2014) is fast. Woodruff (2014) too.", NAMED, [(5,), (5,)]),
        ("殷昊等（2017）只处理文本。", NAMED, [(6,)]),
        ("It is so (Okoro, 2016).", NAMED, [()]),
        ("Two [1, 3–5] and [2]–[4]〔6〕.", NUMBERED,
         [(0,), (2,), (3,), (4,), (1,), (2,), (3,), (5,)]),
        ("Words^2^ and words³<sup>[4]</sup>.", NUMBERED, [(1,), (2,), (3,)]),
        ("It is so [Knu84, p. 3] and so [ABC+01; Knu84].", KEYED, [(0,), (1,), (0,)]),
        ("It is so (1) and so (2, 3).", ROUND, [(0,), (1,), (2,)]),
    ],
)  # fmt: skip
def test_a_citation_means_its_entries(
    body: str, listed: str, entries: list[tuple[int, ...]]
) -> None:
    assert [found for _, found in read(body, listed)] == entries


@pytest.mark.parametrize(
    ("body", "listed"),
    [
        ("The data (1966 to April 2009) and (Equation 3) at NeurIPS (NeurIPS 2019).", NAMED),
        ("In `code (Dean, 2004)` and <!-- Dean (2004) --> and https://a.org/Dean(2004).", NAMED),
        ("Weights in [0, 1], [6.03, 19.74], 10^15^ bytes, 5 m^2^, [Table 2](#t).", NUMBERED),
        ("See Eq. (3) and 5 mmHg.\n\n(1) First, (2) second.", NAMED),
        ("Keys [Abc99] that the list has not.", KEYED),
    ],
)
def test_what_only_looks_like_a_citation_is_none(body: str, listed: str) -> None:
    assert read(body, listed) == []


@pytest.mark.parametrize(
    ("entry", "authors", "year", "title"),
    [
        ("Dean J, Ghemawat S. MapReduce: data. OSDI. 2004;1:1-9.", ("Dean", "Ghemawat"), "2004",
         "MapReduce: data"),
        ("David P. Woodruff. 2014. Sketching as a tool. F.", ("Woodruff",), "2014",
         "Sketching as a tool"),
        ('J. Dean and S. Ghemawat, "MapReduce," in Proc. OSDI, 2004.', ("Dean", "Ghemawat"), "2004",
         "MapReduce"),
        ("殷昊, 李寿山, 等. 情绪分类[J]. 学报, 2018, 32(1).", ("殷昊", "李寿山"), "2018",
         "情绪分类"),
        ("da Silva Ramos, R., & Lee, B. (2017). Oils. J.", ("da Silva Ramos", "Lee"), "2017",
         "Oils"),
        ("World Health Organization. (2001). Iron. WHO.", ("World Health Organization",), "2001",
         "Iron"),
    ],
)  # fmt: skip
def test_printed_entries_are_parted(
    entry: str, authors: tuple[str, ...], year: str, title: str
) -> None:
    read = parse_entry(entry)
    assert (read.authors, read.year, read.title) == (authors, year, title)
