"""Nothing that stands in a file, its name or sidecar, a question or a draft acts in an output."""

import json
import sys
from pathlib import Path

import bibtexparser
import pytest
import rispy
import yaml
from click.testing import CliRunner, Result
from lxml import html

from rag_assets.cli.main import build_cli
from rag_assets.model import has_controls
from rag_assets.workspace import Workspace
from rag_assets_tests.e2e.workspaces import SETTINGS
from rag_assets_tests.libraries import make_workspace
from rag_assets_tests.model.markdown_reader import READER, kinds

ACTS = "\x1b]0;owned\x07\x1b[31m\x9b31m\u202e"
MARKUP = (
    "![a](http://x.org/a.png) [b](javascript:alert(1)) <script>alert(1)</script> | `c` *d* &lt;"
)
HOSTILE = f"{MARKUP} {ACTS}"
NAME = f"roofs{HOSTILE}\nerror: fake.txt".replace("/", "_")
TEXT = f"""# Roofs {HOSTILE}

A green roof was 7 degrees cooler than bitumen at noon {HOSTILE}. It held half of the rain.

<img src=x onerror=alert(1)>
| a | b |
|---|---|
| 1 | [x](http://x.org) |

[ref]: http://x.org
```
<b>code
"""
SIDECAR = {
    "doc_uid": "roofs",
    "title": f"Roofs {HOSTILE}\nER  - \n\nTY  - JOUR",
    "authors": [f"Ann {HOSTILE} Lee", "Bo\nAU  - Fake"],
    "citation_key": f"lee2020{ACTS}\nER  - \n\nTY  - JOUR\n@book{{fake, title={{x}}}}",
    "publisher": f"Press {HOSTILE}",
    "url": "javascript:alert(1)\nTY  - JOUR",
    "year": 2020,
}
QUESTION = f"How much cooler is a green roof than bitumen? {HOSTILE}"
DRAFT = f"""# Draft {HOSTILE}

A green roof was 9 degrees cooler than bitumen at noon {MARKUP} {{#roofs}}.

Because of green roofs, all cities are 50 % cooler {HOSTILE} {{#roofs}}.

It is the best of all roofs, unlike {HOSTILE} others {{#nothing}}.

Because of green roofs, all streets are 50 % cooler {HOSTILE} at noon.
"""
# What our own pages are made of; no link, picture, HTML, note or definition is among them.
OURS = {
    "heading", "paragraph", "bullet_list", "ordered_list", "list_item", "blockquote", "table",
    "thead", "tbody", "tr", "th", "td", "fence", "code_inline", "strong", "em", "hr", "softbreak",
    "text", "text_special",
}  # fmt: skip


def call(workspace: Workspace, *arguments: object) -> Result:
    given = ["--workspace", str(workspace.root), *map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rag", *given])
        ran = CliRunner().invoke(build_cli(), given)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    for stream in (ran.stdout, ran.stderr):
        assert not has_controls(stream), stream
        assert not any(line.startswith("error: fake") for line in stream.splitlines())
    return ran


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, parse_in_process: None) -> Workspace:
    root = tmp_path_factory.mktemp("hostile") / "library"
    workspace = make_workspace(
        root, {"evidence/calm.md": "# Streets\n\nTrees along a street lower the temperature.\n"},
        {**SETTINGS, "verify": {"scorer": "similarity"}},
    )  # fmt: skip
    folder = workspace.root / "raw" / "evidence"
    (folder / NAME).write_text(TEXT, "utf-8")
    (folder / f"{NAME}.meta.yaml").write_text(yaml.safe_dump(SIDECAR, allow_unicode=True), "utf-8")
    (workspace.drafts / "chapter.md").write_text(DRAFT, "utf-8")
    assert call(workspace, "ingest").exit_code == 0
    assert call(workspace, "query", QUESTION, "--html").exit_code == 0
    return workspace


def check_markdown(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert kinds(READER.parse(text)) <= OURS, path
    assert not has_controls(text), path


def check_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not has_controls(text), path
    for element in html.document_fromstring(text.encode("utf-8")).iter():
        assert element.tag != "script"
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            if name in {"href", "src"}:
                assert value.startswith(("#", "data:image/png;base64,"))


def outputs(workspace: Workspace, suffix: str) -> list[Path]:
    return sorted(workspace.outputs.rglob(f"*{suffix}"))


def test_a_pack_and_its_page_show_what_stands_in_the_files(library: Workspace) -> None:
    check_markdown(outputs(library, "evidence_pack_v001.md")[0])
    check_page(outputs(library, "evidence_pack_v001.html")[0])
    pack = json.loads(outputs(library, "evidence_pack_v001.json")[0].read_text("utf-8"))
    assert not has_controls(pack["question"])
    assert any("green roof" in item["exact_quote"] for item in pack["items"])
    (saved,) = library.queries.glob("*.yaml")
    assert yaml.safe_load(saved.read_text("utf-8"))["question"] == pack["question"]
    asked = call(library, "query", QUESTION, "--mode", "papers")
    assert asked.exit_code == 0
    for path in outputs(library, ".md"):
        check_markdown(path)


def test_both_audits_and_their_pages_show_it(library: Workspace) -> None:
    # {#nothing} is unknown, which the audit of citations tells.
    for command, code in (("verify-citations", 3), ("audit", 0)):
        ran = call(library, command, library.drafts / "chapter.md")
        assert ran.exit_code == code, ran.output
    assert "all streets are 50 % cooler" in ran.stdout
    audits = outputs(library, "_v001.md")
    assert {"chapter_citations_v001.md", "chapter_claims_v001.md"} <= {one.name for one in audits}
    for path in outputs(library, ".md"):
        check_markdown(path)
    for path in outputs(library, ".html"):
        check_page(path)


def test_a_reference_is_one_record_in_every_format(library: Workspace) -> None:
    assert call(library, "export-used-sources").exit_code == 0
    check_markdown(outputs(library, "used_sources_v001.md")[0])
    (ris,) = outputs(library, "used_sources_v001.ris")
    records = list(rispy.loads(ris.read_text("utf-8")))
    used = json.loads(outputs(library, "used_sources_v001.json")[0].read_text("utf-8"))
    (bib,) = outputs(library, "used_sources_v001.bib")
    parsed = bibtexparser.parse_string(bib.read_text("utf-8"))
    assert len(records) == len(parsed.entries) == len(used)
    assert parsed.failed_blocks == []
    assert [each["id"] for each in used if "lee2020" in each["id"]] == [
        "lee2020 ER - TY - JOUR @book{fake, title={x}}"
    ]
    for path in (ris, bib):
        assert not has_controls(path.read_text("utf-8"))


def test_what_the_terminal_shows_cannot_act(library: Workspace) -> None:
    path = library.root / "raw" / "evidence" / NAME
    for command in (
        ("documents",), ("status",), ("health",), ("trace", "evidence_pack_v001#1"),
        ("preview", path), ("preview", path, "--blocks"), ("sql", "SELECT * FROM documents"),
        ("preview", f"{path}-is-not-there"), ("query", "???\x1b[31m"), ("parse",),
    ):  # fmt: skip
        call(library, *command)
    for name in ("health_report.md", "parse_quality_report.md", "instruction_brief.md"):
        check_markdown(library.meta / name)
