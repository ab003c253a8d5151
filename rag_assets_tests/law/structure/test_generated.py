"""Generated laws are cut without loss, alone and behind one another: some here, 2,000 if slow."""

from collections.abc import Iterator, Sequence
from random import Random

import pytest

from rag_assets.chunking import chunk_document
from rag_assets.law.structure import LawText, UnitKind, merge_units, read_laws
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import shipped_settings
from rag_assets_tests.chunking.fakes import LetterTokenizer, chunk_settings
from rag_assets_tests.law.structure.generated import GeneratedLaw, make_law

SOFT_LIMIT, FALLBACK = 1200, (500, 1000)
LAW = {"soft_limit": SOFT_LIMIT, "fallback": list(FALLBACK)}
SOME = pytest.param(100, id="some")
ALL = pytest.param(2000, id="2000", marks=pytest.mark.slow)


def generated(count: int) -> Iterator[GeneratedLaw]:
    chance = Random(7)
    for number in range(count):
        yield make_law(chance, number % 90)


def test_they_have_everything_that_laws_have() -> None:
    every = list(generated(100))
    depths = {len(path) for law in every for path in law.paths}
    assert depths == {0, 1, 2, 3, 4}
    lengths = [one.end - one.start for law in every for one in law.articles]
    assert max(lengths) > 3 * SOFT_LIMIT
    text = "".join(law.text for law in every)
    for piece in (
        "目　录",
        "附件一",
        "条之一",
        "（六十）",
        "条规定的期限",
        "附加刑也可以",
        "分编",
        "目 ",
    ):
        assert piece in text, piece


@pytest.mark.parametrize("count", [SOME, ALL])
def test_nothing_of_them_is_lost_and_nothing_stands_elsewhere(count: int) -> None:
    for law in generated(count):
        (found,) = read_laws(law.text)
        assert found.title == law.title
        marks = [
            (unit.path, unit.article.key, unit.start, unit.end)
            for unit in found.units
            if unit.article is not None
        ]
        assert marks == [(one.path, one.key, one.start, one.end) for one in law.articles]
        groups = merge_units(law.text, found.units, soft_limit=SOFT_LIMIT, fallback=FALLBACK)
        assert "".join(law.text[group.start : group.end] for group in groups) == law.text
        assert {group.path for group in groups} <= law.paths
        assert max(g.end - g.start for g in groups if g.kind is not UnitKind.LEVELS) <= SOFT_LIMIT


@pytest.mark.parametrize("search_unit", ["article", "merged"])
@pytest.mark.parametrize("count", [SOME, ALL])
def test_their_chunks_give_the_text_back_and_begin_with_articles(
    count: int, search_unit: str
) -> None:
    settings = chunk_settings(mode="law", law={**LAW, "search_unit": search_unit})
    parse = shipped_settings().parse
    for law in generated(count):
        document = parse_document(law.text.encode(), ParseHints(extension="md"), parse)
        text = document.text
        assert text.rstrip() == law.text.rstrip()
        parents, chunks = chunk_document(document, settings, LetterTokenizer())
        at, body = 0, ""
        for chunk in chunks:
            gap = text[at : chunk.char_start]
            assert gap.strip() == ""
            body += gap + chunk.text
            at = chunk.char_end
            assert chunk.section_path in law.paths
            path = " > ".join(chunk.section_path)
            assert chunk.context == f"<<Source: {law.title} | Path: {path}>>"
        assert (body + text[at:]) == text
        inside = {
            start
            for one in law.articles
            if one.end - one.start <= SOFT_LIMIT
            for start in range(one.start + 1, one.end)
        }
        assert not inside & {piece.char_start for piece in (*chunks, *parents)}


@pytest.mark.parametrize("count", [SOME, ALL])
def test_behind_one_another_they_are_what_each_is_alone(count: int) -> None:
    chance = Random(11)
    every = list(generated(count))
    for _ in range(count // 2):
        laws = chance.sample(every, chance.randint(2, 5))
        joined = "".join(law.text for law in laws)
        found = read_laws(joined)
        assert [law.title for law in found] == [law.title for law in laws]
        start = 0
        for together, law in zip(found, laws, strict=True):
            (alone,) = read_laws(law.text)
            assert shape(joined, together, start) == shape(law.text, alone, 0)
            start += len(law.text)


def shape(text: str, law: LawText, base: int) -> Sequence[tuple[object, ...]]:
    groups = merge_units(text, law.units, soft_limit=SOFT_LIMIT, fallback=FALLBACK)
    return [
        (group.start - base, group.end - base, group.path, group.kind,
         tuple(article.key for article in group.articles))
        for group in groups
    ]  # fmt: skip
