"""A sidecar that cannot be heard withholds its file; what is no sidecar withholds nothing."""

import os
from pathlib import Path

import pytest

from rag_assets.workspace import Namespace, SourceFile, Workspace, scan_raw
from rag_assets_tests.laws.driver import put


def seen(namespace: Namespace) -> dict[str, SourceFile]:
    return {Path(s.source_uri).name: s for s in scan_raw(namespace).sources}


@pytest.mark.parametrize(
    "name",
    [
        "c.md.META.YAML", "C.md.meta.yaml", "c.md.meta.yml", "c.md.Meta.Yml", "c.md.meta.json",
        "c.md.yaml", "c.md.yml", "c.md.meta.yaml.txt", "c.md.meta.yaml~",
    ],
)  # fmt: skip
def test_a_misnamed_sidecar_withholds_its_file_and_says_what_to_call_it(
    workspace: Workspace, namespace: Namespace, name: str
) -> None:
    put(workspace, "evidence/c.md", "# C")
    put(workspace, "evidence/d.md", "# D")
    put(workspace, f"evidence/{name}", "citable: false\n")
    found = seen(namespace)
    assert found["c.md"].sidecar_error.startswith(f"{name}: ")
    assert "rename it to c.md.meta.yaml" in found["c.md"].sidecar_error
    assert found["d.md"].sidecar_error == ""
    assert found.keys() - {name} == {"c.md", "d.md"}
    assert name not in found or found[name].reason_code == "sidecar_name"


@pytest.mark.parametrize(
    "kind", ["outside", "nowhere", "circle", "to a folder", "folder", "pipe", "outside misnamed"]
)
def test_a_sidecar_that_is_no_file_of_raw_withholds_its_file(
    workspace: Workspace, namespace: Namespace, kind: str
) -> None:
    put(workspace, "evidence/c.md", "# C")
    elsewhere = workspace.root / "elsewhere.yaml"
    elsewhere.write_text("citable: false\n")
    path = workspace.root / "raw/evidence/c.md.meta.yaml"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "outside misnamed":
        path.with_suffix(".yml").symlink_to(elsewhere)
    else:
        targets = {"outside": elsewhere, "nowhere": path.parent / "gone", "circle": path,
                   "to a folder": path.parent}  # fmt: skip
        path.symlink_to(targets[kind])
    source = seen(namespace)["c.md"]
    assert source.status == "ok"
    assert source.sidecar_error.startswith("c.md.meta.y")


def test_a_link_to_a_sidecar_in_raw_is_heard(workspace: Workspace, namespace: Namespace) -> None:
    put(workspace, "evidence/c.md", "# C")
    said = put(workspace, "evidence/shared/c.md.meta.yaml", "title: C\n")
    (workspace.root / "raw/evidence/c.md.meta.yaml").symlink_to(said)
    assert seen(namespace)["c.md"].sidecar == '{"title": "C"}'


def test_yaml_that_is_a_document_withholds_nothing(
    workspace: Workspace, namespace: Namespace
) -> None:
    for name in ("data", "data.yaml", "README", "readme.yml", "settings.meta.json", "settings.md",
                 "table.csv", "table.yaml"):  # fmt: skip
        put(workspace, f"evidence/{name}", f"a: {name}")
    found = seen(namespace)
    assert {name: (s.status, s.sidecar_error) for name, s in found.items()} == dict.fromkeys(
        found, ("ok", "")
    )


def test_the_right_name_speaks_whatever_lies_beside_it(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/c.md", "# C")
    put(workspace, "evidence/c.md.meta.yaml", "title: C\n")
    put(workspace, "evidence/c.md.meta.yaml~", "title: B\n")
    found = seen(namespace)
    assert (found["c.md"].sidecar, found["c.md"].sidecar_error) == ('{"title": "C"}', "")
    assert found["c.md.meta.yaml~"].reason_code == "sidecar_name"


def test_a_pattern_that_leaves_out_yaml_leaves_out_no_sidecar(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/c.md", "# C")
    put(workspace, "evidence/c.md.meta.yaml", "citable: false\n")
    put(workspace, "evidence/other.yaml", "a: b")
    path = workspace.namespace_file("lib")
    path.write_text(path.read_text() + "\nignore: ['*.yaml']\n")
    found = seen(Workspace.open(workspace.root).namespace("lib"))
    assert list(found) == ["c.md"]
    assert found["c.md"].sidecar == '{"citable": false}'


def test_a_sidecar_of_gigabytes_is_not_read(workspace: Workspace, namespace: Namespace) -> None:
    put(workspace, "evidence/c.md", "# C")
    os.truncate(put(workspace, "evidence/c.md.meta.yaml", ""), 20_000_000_000)
    assert "larger than 1 MB" in seen(namespace)["c.md"].sidecar_error
