"""References in footnotes, and notes that are none."""

import pytest

from rag_assets.auditing.notes import find_note_references
from rag_assets.auditing.references import Entry, parse_entry

KNOWN = (
    Entry("Chang. 2006. Bigtable: a system", "", ("Chang",), "2006", "Bigtable: a system"),
    Entry("Chang. 2012. Spanner", "", ("Chang", "Dean"), "2012", "Spanner"),
)


def read(*notes: str, known: tuple[Entry, ...] = ()) -> list[list[tuple[str, str | None]]]:
    """Return for each note the titles and places that it cites."""
    marks = "".join(f"One says so.[^{n}] " for n in range(1, len(notes) + 1))
    text = f"{marks}\n\n" + "\n\n".join(f"[^{n}]: {note}" for n, note in enumerate(notes, 1)) + "\n"
    written, found = find_note_references(text, known, ())
    entries = [*known, *found]
    cited: list[list[tuple[str, str | None]]] = []
    for number, note in enumerate(notes, 1):
        start = text.index(f"[^{number}]: {note}")
        held = [one for one in written if start <= one.start < start + len(note) + 6]
        cited.append(
            [
                (" | ".join(entries[at].title for at in c.entries), c.hint.text if c.hint else None)
                for one in held
                for c in one.citations
            ]
        )
    return cited


@pytest.mark.parametrize(
    ("note", "authors", "title", "place"),
    [
        ("Chang, F. et al., Bigtable: A distributed system, OSDI 2006, p. 3.",
         ("Chang",), "Bigtable: A distributed system", "p. 3"),
        ("See Fay Chang and Jeffrey Dean, “Bigtable,” in *OSDI* (2006), 205–218, at 210.",
         ("Chang", "Dean"), "Bigtable", "210"),
        ("Vgl. Chang, Fay/Dean, Jeffrey: Bigtable, in: OSDI 2006, S. 205-218, hier S. 210.",
         ("Chang", "Dean"), "Bigtable", "S. 210"),
        ("F. Chang and J. Dean, Tables of the World (OUP 2008) 12",
         ("Chang", "Dean"), "Tables of the World", "12"),
        ("参见张三：《行政法总论》，北京大学出版社2019年版，第45页。",
         ("张三",), "行政法总论", "第45页"),
        ("[美]罗尔斯：《正义论》，何怀宏译，中国社会科学出版社1988年版，第3页。",
         ("罗尔斯",), "正义论", "第3页"),
        ("王五. 民法总论[M]. 北京: 北京大学出版社, 2019: 45.", ("王五",), "民法总论", "45"),
        ("殷昊、李寿山：《不平衡情绪分类方法》，《中文信息学报》2017年。",
         ("殷昊", "李寿山"), "不平衡情绪分类方法", None),
    ],
)  # fmt: skip
def test_a_reference_written_out_is_a_source(
    note: str, authors: tuple[str, ...], title: str, place: str | None
) -> None:
    text = f"So it is.[^1]\n\n[^1]: {note}\n"
    (written,), (entry,) = find_note_references(text, (), ())
    (citation,) = written.citations
    assert (entry.authors, entry.title, citation.entries) == (authors, title, (0,))
    assert (citation.hint.text if citation.hint else None) == place
    assert text[written.start : written.end] == note


@pytest.mark.parametrize(
    "note",
    [
        "We exclude outliers. They are rare in 2006 data.",
        "This convention dates from 1998 and is used here because the tables need it.",
        "In 2006, Google ran 388 clusters, each with tablet servers.",
        "Jeffrey Dean, Google's senior fellow, left in 2012.",
        "Google Research, however, stopped this in 2012.",
        "“Bigtable” is a system of 2006.",
        "Jeffrey Dean, speaking at Stanford (2008), said so.",
        "See note 3 for the data of the first table.",
        "Interviews were held in May; see the appendix, p. 4.",
        "《劳动合同法》第三十九条。",
        "Chang, F., Bigtable, OSDI 2006 {#bigtable}.",
    ],
)
def test_a_note_that_explains_is_no_reference(note: str) -> None:
    assert read(note) == [[]]


FULL = "Chang, F., Bigtable: A system, OSDI 2006, p. 3."
ZHANG = "张三：《行政法总论》，北京大学出版社2019年版，第45页。"


@pytest.mark.parametrize(
    ("first", "back", "title", "place"),
    [
        (FULL, "Ibid., p. 4.", "Bigtable: A system", "p. 4"),
        (FULL, "Ebd.", "Bigtable: A system", None),
        (FULL, "See note 1 above, p. 4.", "Bigtable: A system", "p. 4"),
        (FULL, "Chang (n 1) 45.", "Bigtable: A system", "45"),
        (FULL, "Chang, supra note 1, at 12.", "Bigtable: A system", "12"),
        (FULL, "Chang, a.a.O., S. 4.", "Bigtable: A system", "S. 4"),
        (FULL, "Chang, Bigtable, p. 4.", "Bigtable: A system", "p. 4"),
        (FULL, "Vgl. Chang 2006, S. 7.", "Bigtable: A system", "S. 7"),
        (ZHANG, "同上，第46页。", "行政法总论", "第46页"),
        (ZHANG, "同前注①，第60页。", "行政法总论", "第60页"),
        (ZHANG, "张三：《行政法总论》，第50页。", "行政法总论", "第50页"),
    ],
)
def test_a_note_points_back(first: str, back: str, title: str, place: str | None) -> None:
    assert read(first, back)[1] == [(title, place)]


def test_a_note_points_to_no_source_that_is_not_there() -> None:
    nowhere = [("", "S. 4")]
    assert read("Ibid., S. 4.", "Keller, a.a.O., S. 4.", "Keller, Law, p. 3.") == [
        nowhere, nowhere, [],
    ]  # fmt: skip
    assert read("Chang, Spanner, p. 2.", known=KNOWN) == [[("Spanner", "p. 2")]]
    assert read("Chang, p. 2.", known=KNOWN) == [[]]


def test_a_note_cites_several_sources() -> None:
    note = "Keller, Peter: Recht, 3. Aufl. 2019, S. 45; vgl. auch Rawls, J., Justice, Oxford 1971."
    assert read(note) == [[("Recht", "S. 45"), ("Justice", None)]]
    # No semicolon of a list of authors parts sources.
    assert read("Chang, F.; Dean, J.: Spanner. OSDI 2012, S. 3.") == [[("Spanner", "S. 3")]]


def test_a_work_that_is_known_is_the_same_work() -> None:
    entry = parse_entry("Chang, F. (2006). Bigtable: A distributed system. OSDI.")
    text = "So.[^1]\n\n[^1]: Fay Chang, “Bigtable: A Distributed System,” OSDI (2006), 3.\n"
    (written,), found = find_note_references(text, (entry,), ())
    assert (written.citations[0].entries, found) == ((0,), ())


def test_words_behind_a_reference_stay_words() -> None:
    text = (
        "So.[^1]\n\n[^1]: See Michel Foucault, Discipline and Punish (New York 1995), 195, who "
        "argues that prisons make delinquents of their inmates.\n"
    )
    (written,), _ = find_note_references(text, (), ())
    assert text[written.end :].startswith(", who argues")
