"""Every article of the vault is found by its citation; what names nothing is refused."""

import os
import random
import re
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path, PurePosixPath

import pytest

from rag_assets.auditing.citation_forms import STATUTE, read_citations
from rag_assets.law import plain_name
from rag_assets.law.citing import read_citation
from rag_assets.law.structure import read_laws
from rag_assets.model import UsageError
from rag_assets.parsing import read_parsed
from rag_assets.retrieval import OpenedLibrary, Publications
from rag_assets.retrieval.statutes import LawShelf
from rag_assets_tests.libraries import HASHING, build, make_workspace
from rag_assets_tests.statutes.mutations import Cited, Mutator

ROOT = Path(__file__).parents[2]
ARCHIVE = (
    Path(os.environ.get("RAG_SHARED_DATA", ROOT.parent / "shared" / "data"))
    / "retrieval/law/law_vault.tar.xz"
)
DAY = date(2025, 6, 1)
SETTINGS = {**HASHING, "chunk": {"mode": "law"}}

pytestmark = pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"no {ARCHIVE}; set RAG_SHARED_DATA")


@contextmanager
def published(root: Path, most: int | None) -> Iterator[Publications]:
    """Publish the vault, or files of it chosen by a seed, and hold the publication.

    Among the chosen are laws with several wordings, and the books of a code.
    """
    with tarfile.open(ARCHIVE) as archive:
        members = [member for member in archive if member.isfile()]
        wanted = {member.name for member in members}
        if most is not None:
            always = {n for n in wanted if re.search(r"/(?:行政复议法|民法典.*继承)", n)}
            wanted = always | set(random.Random(7).sample(sorted(wanted), most))
        files = {
            f"evidence/{member.name.partition('/')[2]}": (
                archive.extractfile(member) or _none()
            ).read()
            for member in members
            if member.name in wanted
        }
    workspace = make_workspace(root, files, SETTINGS)
    build(workspace.namespace("thesis"))
    with OpenedLibrary(workspace) as library, library.hold() as held:
        yield held


def _none() -> Path:
    raise AssertionError("a file of the archive cannot be read")


def articles_of(held: Publications, shelf: LawShelf) -> list[Cited]:
    """Return all articles of a publication, read from its documents without the shelf's look-up."""
    (reader,) = held.readers.values()
    found = []
    for row in reader.documents().to_pylist():
        text = read_parsed(held.workspace.root / "data" / row["content_ref"])[0].text
        for law in read_laws(text):
            stem = PurePosixPath(row["source_uri"]).stem
            known = {plain_name(name) for name in (row["title"] or "", stem)}
            title = law.title if plain_name(law.title or "") in known else row["title"] or stem
            marks = [(unit, unit.article) for unit in law.units if unit.article is not None]
            if not marks:
                continue
            (day,) = {
                str(one.version_date)
                for one in shelf.versions(title)
                if one.law.doc_uid == row["doc_uid"]
            }
            for unit, mark in marks:
                end = unit.start + len(text[unit.start : unit.end].rstrip())
                found.append(
                    Cited(
                        title, "" if day == "None" else day, row["doc_uid"], unit.path, mark.key,
                        mark.shown, text[unit.start : end], (unit.start, end),
                    )
                )  # fmt: skip
    return found


def go_round(held: Publications) -> tuple[int, int, list[str]]:
    """Write, read and resolve every article.

    Returns:
        How many there are; how many are of a wording that no citation tells from another: no day of
        it is known beside others of that law, or two files hold that day's; and those that led
        elsewhere.
    """
    shelf = LawShelf(held, DAY)
    (namespace,) = held.readers
    elsewhere, unnamed = [], 0
    articles = articles_of(held, shelf)
    for one in articles:
        if not one.day and len(shelf.versions(one.law)) > 1:
            unnamed += 1
            continue
        written = one.written()
        try:
            found = shelf.article(written)
            again = shelf.article(found.citation)
        except UsageError as error:
            elsewhere.append(f"{written}: {error}")
            continue
        where = (found.version.law.namespace, found.version.law.doc_uid, (found.start, found.end))
        is_same = where == (namespace, one.document, one.span)
        is_twin = one.day and found.version.law.doc_uid != one.document
        if is_twin and str(found.version.version_date) == one.day:
            unnamed += 1
            continue
        if not is_same or found.text != one.text or found.shown != one.shown:
            elsewhere.append(written)
        elif (again.version.law.doc_uid, again.start) != (found.version.law.doc_uid, found.start):
            elsewhere.append(found.citation)
        # A draft reads it as one citation, whole.
        if not re.fullmatch(STATUTE, written):
            elsewhere.append(f"no citation to a draft: {written}")
            continue
        (cited,) = read_citations(written, 0)
        if read_citation(cited.label) != read_citation(written):
            elsewhere.append(f"read otherwise in a draft: {written}")
    return len(articles), unnamed, elsewhere


def resolve(held: Publications, count: int) -> tuple[Counter[str], list[str]]:
    """Ask for mutated citations; return how many were refused by kind, and what was found."""
    shelf = LawShelf(held, DAY)
    refused: Counter[str] = Counter()
    found = []
    for kind, written in Mutator(articles_of(held, shelf)).mutations(count):
        try:
            one = shelf.article(written)
        except UsageError:
            refused[kind] += 1
        else:
            found.append(f"{kind}: {written} → {one.citation}")
    return refused, found


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publications]:
    with published(tmp_path_factory.mktemp("vault"), 40) as held:
        yield held


@pytest.mark.slow
def test_some_articles_of_the_vault_are_found_by_their_citations(some: Publications) -> None:
    count, unnamed, elsewhere = go_round(some)
    assert count > 1000
    assert unnamed == 0
    assert elsewhere == []


@pytest.mark.slow
def test_some_citations_of_nothing_are_refused(some: Publications) -> None:
    refused, found = resolve(some, 1000)
    assert found == []
    assert sum(refused.values()) == 1000
    assert min(refused.values()) == 100


@pytest.mark.slow
def test_the_whole_vault(tmp_path: Path) -> None:
    with published(tmp_path, None) as held:
        count, unnamed, elsewhere = go_round(held)
        refused, found = resolve(held, 10_000)
    sys.stdout.write(f"{count} articles, {unnamed} without a day; refused: {refused}\n")
    assert count > 147_000
    # Five laws of Shanghai without a day, and two files of one wording of 广告法.
    assert unnamed <= 270
    # Laws whose text gives a number to two articles.
    assert len(elsewhere) <= 10, elsewhere
    assert found == []
    assert sum(refused.values()) == 10_000
