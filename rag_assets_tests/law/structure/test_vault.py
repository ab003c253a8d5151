"""The structure of a real vault of 3,504 files of Chinese law."""

import json
import os
import random
import re
import tarfile
from functools import cache
from pathlib import Path

import pytest

from rag_assets.law import article_key, find_begins
from rag_assets.law.citing import read_citation, write_citation
from rag_assets.law.structure import LawText, UnitKind, merge_units, read_laws

ROOT = Path(__file__).parents[3]
DATA = (
    Path(os.environ.get("RAG_SHARED_DATA", ROOT.parent / "shared" / "data")) / "retrieval" / "law"
)
ARCHIVE = DATA / "law_vault.tar.xz"
_ARTICLE = re.compile(r"第(.+?)条(?:之(.+))?$")


@cache
def vault() -> dict[str, tuple[str, list[LawText]]]:
    """Return path → text and laws of every file."""
    with tarfile.open(ARCHIVE) as archive:
        texts = {
            member.name.partition("/")[2]: (archive.extractfile(member) or _none()).read().decode()
            for member in archive
            if member.isfile()
        }
    return {path: (text, read_laws(text)) for path, text in sorted(texts.items())}


def _none() -> Path:
    raise AssertionError("a file of the archive cannot be read")


pytestmark = pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"no {ARCHIVE}; set RAG_SHARED_DATA")


@pytest.mark.slow
def test_no_character_is_lost_and_every_article_is_found() -> None:
    articles = groups = 0
    for text, laws in vault().values():
        found = [merge_units(text, law.units) for law in laws]
        joined = "".join(text[group.start : group.end] for each in found for group in each)
        assert joined == text
        marks = [unit.article for law in laws for unit in law.units if unit.article]
        assert len(marks) == len(find_begins(text))
        articles += len(marks)
        shown = (group for each in found for group in each)
        hidden = {UnitKind.LEVELS, UnitKind.PREAMBLE}
        groups += sum(group.kind not in hidden for group in shown)
    assert articles == 147_298
    assert groups == pytest.approx(25_200, rel=0.05)


def test_article_ids_of_questions_and_look_ups_exist() -> None:
    lookups = (DATA / "lookups.jsonl").read_text("utf-8").splitlines()
    asked = [json.loads(line)["relevant"] for line in lookups]
    qrels = (DATA / "stard/qrels").glob("*.tsv")
    asked += [row.split("\t")[1] for file in qrels for row in file.read_text().splitlines()[1:]]
    known = {
        f"{path}#{unit.article.key}"
        for path, (_, laws) in vault().items()
        for law in laws
        for unit in law.units
        if unit.article
    }
    missing = []
    for one in asked:
        path, _, shown = one.partition("#")
        match = _ARTICLE.match(shown)
        key = article_key(match[1], match[2]).replace(".", "-") if match else shown
        if f"{path}#{key}" not in known:
            missing.append(one)
    assert len(missing) <= 0.002 * len(asked), missing[:10]


@pytest.mark.slow
def test_laws_behind_one_another_are_read_as_each_alone() -> None:
    whole = []
    for text, laws in vault().values():
        keys = [unit.article.key for law in laws for unit in law.units if unit.article]
        if keys[:1] == ["1"] and len(laws) == 1:
            whole.append(text.rstrip("\n") + "\n\n")
    chosen = random.Random(7)
    for _ in range(1000):
        texts = chosen.sample(whole, chosen.randint(2, 5))
        joined = "".join(texts)
        start = 0
        laws = read_laws(joined)
        assert len(laws) == len(texts)
        for law, text in zip(laws, texts, strict=True):
            assert _shape(joined, law, start) == _shape(text, read_laws(text)[0], 0)
            start += len(text)


def test_every_citation_leads_back_to_its_article_and_no_other() -> None:
    count, twice = 0, []
    for path, (_, laws) in vault().items():
        for law in laws:
            seen = set()
            for unit in law.units:
                if unit.article is None:
                    continue
                written = write_citation(law.title or "", unit.path, unit.article.shown)
                read = read_citation(written)
                assert (read.key, read.path) == (unit.article.key, unit.path), written
                twice += [f"{path}: {written}"] if written in seen else []
                seen.add(written)
                count += 1
    assert count == 147_298
    # Laws whose text gives a number to two articles.
    assert len(twice) <= 5, twice


def _shape(text: str, law: LawText, base: int) -> tuple[object, ...]:
    return (
        law.title,
        *(
            (group.start - base, group.end - base, group.path, group.kind,
             tuple(article.key for article in group.articles))
            for group in merge_units(text, law.units)
        ),
    )  # fmt: skip
