"""The reference list of a draft: faults name both sources, and a clean list is quiet."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from rag_assets.auditing.reference_check import (
    ReferenceCheck,
    check_references,
    render_references,
    settle_reference,
)
from rag_assets.cli.main import build_cli
from rag_assets.model import UsageError
from rag_assets.workspace import Workspace
from rag_assets_tests.auditing.referenced import referenced_workspace

AT = "2026-03-01T10:00:00+00:00"
TABLE = """\
Record ID,Title,Author,RetractionDate,RetractionDOI,OriginalPaperDOI,RetractionNature,Reason
1,Punctual trains,Ruth Rail,8/26/2014 0:00,10.1000/notice,10.1000/RAILS,Retraction,+Made Up;
2,A book about nothing that anybody cites,Other Writer,1/1/2001 0:00,,unavailable,Retraction,
3,Bridges rust where salt lies in the air,Dora Moss,1/2/2020 0:00,,unavailable,Correction,
"""
CLEAN = """# Draft

Cool roofs reflect sunlight (Keller et al., 2021, p. 14). Bridges rust (Moss, 2019, p. 3).

## References

Keller, A., Brandt, B., & Li, C. (2021). Cool roofs and the heat of cities. *Roofs*, *3*, 12–19.

Moss, D. (2019). Bridges rust where salt lies in the air. *Rust*, *1*, 1–5.
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return referenced_workspace(tmp_path_factory.mktemp("referenced") / "library").root


@pytest.fixture
def workspace(built: Path, tmp_path: Path) -> Iterator[Workspace]:
    yield Workspace.open(shutil.copytree(built, tmp_path / "library"))


def check(workspace: Workspace, text: str = "", name: str = "chapter.md") -> ReferenceCheck:
    path = workspace.drafts / name
    if text:
        path.write_text(text, encoding="utf-8")
    return check_references(workspace, path)


def told(found: ReferenceCheck, code: str) -> list[str]:
    return [one.text for one in found.findings if one.code == code]


def test_every_fault_is_told_and_names_both_sources(workspace: Workspace) -> None:
    found = check(workspace)
    assert [one.pairing.state for one in found.entries] == [
        "paired", "paired", "paired", "unpaired", "paired", "unpaired",
    ]  # fmt: skip
    assert told(found, "other_year") == ["The entry says 2020, the document 2021."]
    assert told(found, "other_doi") == [
        "The entry has the DOI 10.1000/rofs, the document 10.1000/roofs."
    ]
    assert told(found, "other_authors") == ["The entry names “Brant”, the document “Bo Brandt”."]
    (pages,) = told(found, "pages")
    assert "cites p. 900; the entry has pages 12–19" in pages
    assert told(found, "same_work") == [
        "2 and 3 look like one work (both are paired with `salt`). Keep one entry."
    ]
    (missing,) = told(found, "no_entry")
    assert missing.startswith("“Nobody, 2001” (line 4) has no entry")
    assert [one.row for one in found.findings if one.code == "uncited"] == [6]
    (retracted,) = told(found, "retracted")
    assert retracted.startswith("`lamps`: The source is marked as retracted")
    assert [one.row for one in found.findings if one.code == "unpaired"] == [4, 6]
    assert found.findings[0].code == "retracted"
    assert found.must_fix
    shown = render_references(found)
    assert shown.index("To fix") < shown.index("To check") < shown.index("Paired or settled")


def test_a_clean_list_gives_no_alarm(workspace: Workspace) -> None:
    found = check(workspace, CLEAN, "clean.md")
    assert found.findings == ()
    assert not found.must_fix


TITLE = "Cool roofs and the heat of cities"


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (f"Ana, K., Brandt, B., & Li, C. (2021). {TITLE}.", "Given names as family"),
        (f"Brandt, B., Keller, A., & Li, C. (2021). {TITLE}.", "The order"),
        (f"Keller, A., & Li, C. (2021). {TITLE}.", "left out: Bo Brandt"),
        (f"Keller, B., Brandt, A., & Li, C. (2021). {TITLE}.", "“Keller, B"),
        (f"Keller, A., et al. (2021). {TITLE}.", ""),
        (f"A. Keller, B. Brandt, and C. Li, “{TITLE},” 2021.", ""),
    ],
)
def test_authors_are_compared_with_those_that_the_document_prints(
    workspace: Workspace, listed: str, said: str
) -> None:
    found = check(workspace, f"Cool {{#roofs}}.\n\n## References\n\n{listed}\n", "authors.md")
    assert found.entries[0].pairing.state == "paired"
    authors = told(found, "other_authors")
    assert any(said in one for one in authors) if said else not authors


def test_a_table_of_retractions_counts_by_doi_then_by_title_and_author(
    workspace: Workspace,
) -> None:
    workspace.retractions.mkdir()
    table = workspace.retractions / "retraction_watch.csv"
    table.write_text(TABLE, encoding="utf-8")
    found = check(workspace)
    assert (
        "retraction_watch.csv: this work was retracted on 2014-08-26, notice 10.1000/notice "
        "(Made Up)."
    ) in told(found, "retracted")
    assert {one.row for one in found.findings if one.code == "retracted"} == {4, 5}
    assert [one.row for one in found.findings if one.code == "corrected"] == [2, 3]
    table.write_text(TABLE + TABLE.splitlines()[1].replace("Retraction,", "Reinstatement,") + "\n")
    found = check(workspace)
    assert {one.row for one in found.findings if one.code == "retracted"} == {5}
    assert [one.row for one in found.findings if one.code == "reinstated"] == [4]
    table.write_text("Title;DOI\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no column 'OriginalPaperDOI'"):
        check(workspace)


def test_an_entry_may_say_itself_that_its_work_was_retracted(workspace: Workspace) -> None:
    stamped = "Potti, A. (2006). A strategy of genes (Retracted article. See vol. 364). *Med*, 1."
    workspace.retractions.mkdir()
    row = "9,A strategy of genes,Anil Potti,3/4/2011 0:00,,,Retraction,"
    (workspace.retractions / "a.csv").write_text(f"{TABLE.splitlines()[0]}\n{row}\n")
    about = "Potti, A. (2006). Why papers are retracted in surgery (and how). *Med*, 1."
    text = "Genes (Potti, 2006).\n\n## References\n\n{}\n"
    assert told(check(workspace, text.format(stamped), "a.md"), "retracted") == [
        "The entry itself says that the work was retracted.",
        "a.csv: this work was retracted on 2011-03-04.",
    ]
    assert not told(check(workspace, text.format(about), "b.md"), "retracted")


def test_what_a_person_settles_holds_for_every_draft(workspace: Workspace) -> None:
    path = workspace.drafts / "chapter.md"

    def settle(which: str, meant: str) -> None:
        settle_reference(workspace, path, which, meant, by="Ada", at=AT)

    settle("4", "salt")
    settle("6", "none")
    # An entry is known by its letters, whatever its marks.
    other = check(workspace, path.read_text().replace("Unread, U.", "Unread U"), "b.md")
    assert other.entries[3].pairing.document == ("thesis", "salt")
    assert not other.entries[5].is_open
    assert not told(other, "unpaired")
    settle("4", "open")
    assert check(workspace).entries[3].is_open
    with pytest.raises(UsageError, match=r"There is no document `slt`\. Did you mean \{#salt\}"):
        settle("4", "slt")
    with pytest.raises(UsageError, match="has no entry '9'"):
        settle("9", "salt")


def test_keys_that_a_bib_file_has_twice_are_told_and_uncited_ones_are_not(
    workspace: Workspace,
) -> None:
    title = "title={Bridges rust where salt lies in the air}"
    bib = f"@book{{moss, {title}, author={{Dora Moss}}, year=2019}}\n"
    spare = "@book{spare, title={A spare book that nobody cites}, author={A Spare}, year=2000}\n"
    (workspace.drafts / "keys.bib").write_text(bib + bib + spare, encoding="utf-8")
    found = check(workspace, "Bridges rust [@moss]. Trains [@rail] run.\n", "keys.md")
    assert [one.name for one in found.entries] == ["moss"]
    assert told(found, "repeated_key") == [
        "keys.bib has the key `moss` 2 times; only the first entry counts."
    ]
    assert told(found, "no_entry")[0].startswith("“rail”")
    assert (found.unlisted, told(found, "uncited")) == (1, [])
    # The same file imported into the workspace is no second entry.
    workspace.bibliographies.mkdir()
    shutil.copy(workspace.drafts / "keys.bib", workspace.bibliographies)
    older = "@book{moss, title={Another book of the same key}, author={Else}, year=1990}\n"
    (workspace.bibliographies / "older.bib").write_text(older, encoding="utf-8")
    assert [one.name for one in check(workspace, name="keys.md").entries] == ["moss"]


def test_the_command_settles_and_says_by_its_exit_code_whether_something_is_left(
    workspace: Workspace,
) -> None:
    (workspace.drafts / "clean.md").write_text(CLEAN, encoding="utf-8")
    run = CliRunner()

    def references(*arguments: str) -> tuple[int, str]:
        result = run.invoke(
            build_cli(), ["--workspace", str(workspace.root), "references", *arguments]
        )
        return result.exit_code, result.output

    assert references(str(workspace.drafts / "clean.md"))[0] == 0
    code, shown = references(str(workspace.drafts / "chapter.md"), "--settle", "4=none")
    assert code == 3
    assert "4  not in the library (settled)" in shown
    assert references(str(workspace.drafts / "chapter.md"), "--settle", "4")[0] == 2
    nothing = workspace.drafts / "nothing.md"
    nothing.write_text("No citation here.\n", encoding="utf-8")
    code, shown = references(str(nothing))
    assert code == 3
    assert "cites nothing" in shown
