"""A template's factors by folder are those of the folders that are there."""

from pathlib import Path

import pytest

from rag_assets.workspace import create_workspace


@pytest.mark.parametrize(
    ("folders", "factors"),
    [
        ([], 7),  # all of the template's
        (["raw/evidence/刑法", "raw/law/案例/民法典"], {"刑法": 1.1, "案例": 0.8, "民法典": 1.1}),
        (["raw/evidence/papers"], 7),
    ],
)
def test_the_law_template_weighs_the_folders_that_are_there(
    folders: list[str], factors: dict[str, float] | int, tmp_path: Path
) -> None:
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    workspace, _ = create_workspace(tmp_path, "law")
    written = workspace.namespace("law").settings.retrieve.rerank.params["path"]
    assert (len(written) if isinstance(factors, int) else written) == factors
    said = "add its factor above" in (tmp_path / "namespaces/law.yaml").read_text(encoding="utf-8")
    assert said == isinstance(factors, dict)
