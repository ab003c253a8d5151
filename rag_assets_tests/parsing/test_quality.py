from pathlib import Path

from rag_assets.model import hash_bytes
from rag_assets.parsing.stage import refresh_parse_reports, write_quality_report
from rag_assets.workspace import take_inventory
from rag_assets_tests.libraries import build, make_workspace
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph


def test_the_report_says_what_was_read_and_what_was_not(tmp_path: Path) -> None:
    files = {
        "evidence/a.md": "# Light\n\nLight helps plants.\n",
        "evidence/b.md": "",
        "evidence/表.csv": "x,y\n1,2\n",
    }
    workspace = make_workspace(tmp_path, files)
    build(workspace.namespace("thesis"))
    text = write_quality_report(workspace).read_text(encoding="utf-8")
    assert "3 documents: 2 read, 1 not." in text
    assert "**empty_file** (1)" in text
    assert "raw/evidence/b.md: " in text
    assert "| raw/evidence/a.md | markdown |" in text
    assert "1 of 2 have headings (50 %)." in text


def test_characters_a_page_are_those_of_documents_with_pages(tmp_path: Path) -> None:
    pdf = make_pdf([paragraph("Light helps plants.")])
    # Texts of many lengths, so that one of them shares the partition of the PDF.
    texts = {f"evidence/{n}.md": "Light helps. " * (100 + n) for n in range(200)}
    key = hash_bytes(pdf)[0]
    shared = next(name for name, text in texts.items() if hash_bytes(text.encode())[0] == key)
    workspace = make_workspace(tmp_path, {"evidence/a.pdf": pdf, shared: texts[shared]})
    namespace = workspace.namespace("thesis")
    inventory = take_inventory(namespace, notify=lambda _: None).inventory
    outcome = refresh_parse_reports(namespace, inventory, [key], lambda _: None)[key]
    assert outcome.counts["documents"] == 2
    assert outcome.counts["mean_characters_a_page"] == len("Light helps plants.")


def test_an_unchanged_library_rewrites_no_report(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/a.md": "Light helps."})
    build(workspace.namespace("thesis"))
    path = write_quality_report(workspace)
    before = path.stat()
    after = write_quality_report(workspace).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_namespace_that_cannot_be_read_is_named_and_hides_no_other(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/a.md": "Light helps."})
    build(workspace.namespace("thesis"))
    (tmp_path / "namespaces" / "broken.yaml").write_text("hex_digit: 1\n")
    text = write_quality_report(workspace).read_text(encoding="utf-8")
    assert "## broken\n\nIts reports cannot be read: " in text
    assert "raw/evidence/a.md" in text


def test_a_name_with_a_bar_stays_in_its_cell(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/a|b.md": "Light helps."})
    build(workspace.namespace("thesis"))
    assert "| raw/evidence/a\\|b.md | markdown |" in write_quality_report(workspace).read_text()
