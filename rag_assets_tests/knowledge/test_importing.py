"""Bibliographies and Zotero's exports: what is copied, what pairs, what their files become."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from rag_assets.auditing.references import read_bibliography
from rag_assets.cli.main import build_cli
from rag_assets.knowledge.importing import import_bibliographies
from rag_assets.model import UsageError
from rag_assets.workspace import Workspace
from rag_assets_tests.auditing.referenced import referenced_workspace
from rag_assets_tests.libraries import build

# As Zotero and Better BibTeX write it: description, path and type, and marks escaped.
BIB = r"""@article{keller2021,
  title = {Cool roofs and the heat of cities}, year = {2021},
  author = {Keller, Ana and Brandt, Bo and Li, Chen},
  file = {Text:files/1/Keller - 2021\; roofs.md:text/markdown;Page:files/1/a.html:text/html},
}
@article{wind2020,
  title = {Windmills turn slowly in the northern plains}, year = {2020},
  author = {Wind, Willa and Gale, Gus}, doi = {10.1000/wind}, file = {files/2/wind.md},
}
@book{lost, title = {A lost book about lost things}, author = {L. Ost}, year = {1990},
  file = {PDF:files/3/lost.pdf:application/pdf}}
"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:z="http://www.zotero.org/namespaces/export#" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:bib="http://purl.org/net/biblio#" xmlns:foaf="http://xmlns.com/foaf/0.1/"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:link="http://purl.org/rss/1.0/modules/link/">
 <bib:Article rdf:about="#item_12"><z:itemType>journalArticle</z:itemType>
  <dcterms:isPartOf><bib:Journal><dc:identifier>DOI 10.1000/Wind</dc:identifier></bib:Journal>
  </dcterms:isPartOf>
  <bib:authors><rdf:Seq><rdf:li><foaf:Person><foaf:surname>Wind</foaf:surname>
   <foaf:givenName>Willa</foaf:givenName></foaf:Person></rdf:li></rdf:Seq></bib:authors>
  <link:link rdf:resource="#item_13"/><dc:title>Windmills turn slowly</dc:title>
  <dc:date>May 2020</dc:date><bib:pages>1-9</bib:pages></bib:Article>
 <z:Attachment rdf:about="#item_13"><z:itemType>attachment</z:itemType>
  <rdf:resource rdf:resource="files/2/wind.md"/><dc:title>Text</dc:title></z:Attachment>
</rdf:RDF>
"""
ZOTERO_JSON = {
    "items": [
        {
            "itemType": "journalArticle", "title": "Windmills turn slowly", "date": "2020-05-01",
            "DOI": "10.1000/wind", "pages": "1-9", "citationKey": "wind2020",
            "creators": [{"creatorType": "author", "firstName": "Willa", "lastName": "Wind"}],
            "attachments": [{"title": "Text", "path": "files/2/wind.md"}],
        },
        {"itemType": "note", "note": "read this"},
    ]
}  # fmt: skip
RIS = """TY  - JOUR
AU  - Wind, Willa
TI  - Windmills turn slowly
PY  - 2020
DO  - 10.1000/wind
SP  - 1
EP  - 9
L1  - files/2/wind.md
ER  -\x20
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return referenced_workspace(tmp_path_factory.mktemp("imported") / "library").root


@pytest.fixture
def workspace(built: Path, tmp_path: Path) -> Workspace:
    return Workspace.open(shutil.copytree(built, tmp_path / "library"))


@pytest.fixture
def export(workspace: Workspace, tmp_path: Path) -> Path:
    """A folder as Zotero makes it with “Export Files”."""
    folder = tmp_path / "My Library"
    for number in "12":
        (folder / "files" / number).mkdir(parents=True)
    roofs = (workspace.root / "raw/evidence/roofs.md").read_bytes()
    (folder / "files/1/Keller - 2021; roofs.md").write_bytes(roofs)
    (folder / "files/1/a.html").write_text("<p>Snapshot.</p>")
    (folder / "files/2/wind.md").write_text("# Wind\n\nWindmills turn slowly in the plains.\n")
    (folder / "My Library.bib").write_text(BIB, encoding="utf-8")
    return folder


def test_entries_pair_and_their_files_come_with_what_the_entries_say(
    workspace: Workspace, export: Path
) -> None:
    into = workspace.namespace("thesis")
    (found,) = import_bibliographies(workspace, [export], files_into=into)
    assert found.path == workspace.bibliographies / "My Library.bib"
    states = [pairing.state for _, pairing in found.entries if pairing is not None]
    assert states == ["paired", "unpaired", "unpaired"]
    # What lies in raw/ already is not copied again, and keeps its own sidecar.
    assert found.known == (workspace.root / "raw/evidence/roofs.md",)
    assert "doi: 10.1000/roofs" in (workspace.root / "raw/evidence/roofs.md.meta.yaml").read_text()
    (added,) = found.added
    sidecar = yaml.safe_load(added.with_name(f"{added.name}.meta.yaml").read_text())
    assert sidecar["authors"] == ["Wind, Willa", "Gale, Gus"]
    assert sidecar["title"] == "Windmills turn slowly in the northern plains"
    assert (sidecar["year"], sidecar["doi"]) == (2020, "10.1000/wind")
    assert sidecar["citation_key"] == "wind2020"
    assert found.missing == ("lost: files/3/lost.pdf is not there.",)
    build(into)
    (again,) = import_bibliographies(workspace, [export], files_into=into)
    assert again.added == ()
    assert not again.is_replaced
    assert [p.state for _, p in again.entries if p] == ["paired", "paired", "unpaired"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("wind.rdf", RDF), ("wind.json", json.dumps(ZOTERO_JSON)), ("wind.ris", RIS)],
)
def test_every_format_gives_names_doi_pages_and_files(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (entry,) = read_bibliography(path)
    assert (entry.title, entry.year, entry.doi) == ("Windmills turn slowly", "2020", "10.1000/wind")
    assert (entry.authors, entry.pages) == (("Wind",), "1-9")
    assert entry.people in {("Willa Wind",), ("Wind, Willa",)}
    assert entry.attachments == ("files/2/wind.md",)


def test_nothing_is_copied_of_what_is_no_bibliography(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(BIB, encoding="utf-8")
    (tmp_path / "empty.bib").write_text("% nothing\n")
    with pytest.raises(UsageError, match=r"empty\.bib has no entries"):
        import_bibliographies(workspace, [tmp_path / "a.bib", tmp_path / "empty.bib"])
    (tmp_path / "b.rdf").write_text("<rdf:RDF>")
    with pytest.raises(UsageError, match="this is not Zotero RDF"):
        import_bibliographies(workspace, [tmp_path / "b.rdf"])
    (tmp_path / "none").mkdir()
    with pytest.raises(UsageError, match="has no bibliography"):
        import_bibliographies(workspace, [tmp_path / "none"])
    assert not workspace.bibliographies.exists()


def test_the_command_says_how_many_pair(workspace: Workspace, export: Path) -> None:
    arguments = ["--workspace", str(workspace.root), "library", "import", str(export)]
    result = CliRunner().invoke(build_cli(), [*arguments, "--files"])
    assert result.exit_code == 0
    assert "1 have a document, 0 are unsure, 2 are not in the library" in result.output
    assert "1 file copied into raw/, 1 there already, 1 not copied" in result.output
    read = json.loads(CliRunner().invoke(build_cli(), [*arguments, "--json"]).output)
    assert [one["key"] for one in read[0]["entries"]] == ["keller2021", "wind2020", "lost"]
