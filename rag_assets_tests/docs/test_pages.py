"""The pages below docs/ agree with the repository that they describe."""

import importlib.metadata
import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rag_assets.chunking import split_sentences

ROOT = Path(__file__).parents[2]
FRONT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
PAGES = sorted([*(ROOT / name for name in FRONT), *(ROOT / "docs").glob("*.md")])
# Bullets of a version in the change log: nobody reads more.
MOST_BULLETS = 40
# What tools leave behind; none of it is part of the repository.
LEFT_BEHIND = {"__pycache__", "build", "demo", "dist", "platform"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project() -> dict[str, object]:
    found: dict[str, object] = tomllib.loads(read("pyproject.toml"))["project"]
    return found


def folders_of(folder: Path) -> set[str]:
    return {
        child.name
        for child in folder.iterdir()
        if child.is_dir()
        and child.name not in LEFT_BEHIND
        and (not child.name.startswith(".") or child.name == ".ci")
        and any(file.is_file() and "__pycache__" not in file.parts for file in child.rglob("*"))
    }


def test_drawn_tree_is_the_tree_of_folders() -> None:
    drawing = re.search(r"```text tree\n(.*?)```", read("docs/architecture.md"), re.DOTALL)
    assert drawing
    rows = re.findall(r"^( *)([\w.]+)/ ", drawing[1], re.MULTILINE)
    top = {name for indent, name in rows if not indent}
    rooms = {name for indent, name in rows if indent}
    assert top == folders_of(ROOT)
    assert rooms == folders_of(ROOT / "rag_assets")


def test_drawn_order_of_rooms_is_that_of_the_import_contract() -> None:
    contract = tomllib.loads(read("pyproject.toml"))["tool"]["importlinter"]["contracts"][0]
    layers = re.findall(r"rag_assets\.(\w+)", " ".join(contract["layers"]))
    sentence = re.search(r"Imports go downwards only: (.*?)\. ", read("docs/architecture.md"))
    assert sentence
    assert re.findall(r"`(\w+)`", sentence[1]) == layers


def test_files_and_benchmarks_that_the_pages_name_exist() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"[`(]((?:rag_assets\w*|benchmarks|configs)/[\w/.-]+\.\w+)", text))
    modules = {m.replace(".", "/") for m in re.findall(r"-m (benchmarks\.[a-z_.]*[a-z_])", text)}
    assert any(name.startswith("rag_assets_tests/") for name in named)
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []
    assert [m for m in sorted(modules) if not [*ROOT.glob(f"{m}.py"), *ROOT.glob(m)]] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        if not file.is_file() or (anchor and anchor not in anchors_of(file)):
            broken.append(target)
    assert broken == []


def anchors_of(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_page_is_linked_from_the_front_page() -> None:
    front = read("README.md")
    assert [p.name for p in (ROOT / "docs").glob("*.md") if f"docs/{p.name}" not in front] == []


def test_drawings_are_xml_with_a_title() -> None:
    drawings = sorted((ROOT / "docs/images").glob("*.svg"))
    assert drawings
    for drawing in drawings:
        root = ElementTree.parse(drawing).getroot()  # noqa: S314 - our own file
        assert root.find("{http://www.w3.org/2000/svg}title") is not None


def test_every_dependency_is_explained_once_with_its_licence() -> None:
    described = project()
    extras = dict(described["optional-dependencies"])  # type: ignore[call-overload]
    extras.pop("all")
    groups = tomllib.loads(read("pyproject.toml"))["dependency-groups"]
    development = {one for group in groups.values() for one in group} - set(extras["ray"])
    _, runtime_part, extras_part, development_part, *_ = read("docs/dependencies.md").split("\n## ")
    for part, declared in (
        (runtime_part, described["dependencies"]),
        (extras_part, {package for packages in extras.values() for package in packages}),
        (development_part, development),
    ):
        rows = re.findall(r"^\| `([^`]+)` \| (.+?) \| (.+?) \|$", part, re.MULTILINE)
        names = [row[0] for row in rows]
        assert names == sorted(names, key=str.lower)
        assert names == sorted(map(name_of, declared), key=str.lower)  # type: ignore[call-overload]
        assert all(cell.strip() for row in rows for cell in row)


@pytest.mark.parametrize("name", ["pymupdf", "hypothesis", "duckdb", "torch", "filelock"])
def test_licences_are_those_that_the_packages_declare(name: str) -> None:
    row = re.search(rf"^\| `{name}` .* \| (.+?) \|$", read("docs/dependencies.md"), re.MULTILINE)
    metadata = importlib.metadata.metadata(name)
    declared = " ".join(
        [str(metadata.get(field, "")) for field in ("License-Expression", "License")]
        + (metadata.get_all("Classifier") or [])
    ).upper()
    assert row
    family = re.split(r"[-\s]", row[1])[0].upper()
    assert family.replace("AGPL", "AFFERO") in declared.replace("AGPL", "AFFERO")


def name_of(requirement: str) -> str:
    found = re.match(r"[\w.\-]+", requirement)
    assert found
    return found[0]


def test_change_log_has_the_version_of_the_package() -> None:
    import rag_assets

    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", read("CHANGELOG.md"), re.MULTILINE)
    assert newest
    assert newest[1] == project()["version"] == rag_assets.__version__


def test_change_log_is_told_to_users_in_single_sentences() -> None:
    for version in read("CHANGELOG.md").split("\n## ")[1:]:
        told, _, upgrading = version.partition("### Upgrading")
        assert upgrading.strip(), "say what is built anew and what has to be done by hand"
        bullets = re.findall(r"^- (.*)$", told, re.MULTILINE)
        assert 0 < len(bullets) <= MOST_BULLETS
        assert [each for each in bullets if len(split_sentences(each)) != 1] == []
