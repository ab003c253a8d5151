"""The optional section `lab` of the settings."""

from pathlib import Path

import pytest

from rag_assets.model import ConfigurationError
from rag_assets.workspace import shipped_settings


def write(folder: Path, text: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_there_is_no_laboratory_unless_a_section_says_so(tmp_path: Path) -> None:
    assert shipped_settings().lab is None
    lab = shipped_settings(write(tmp_path, "lab: {}\n")).lab
    assert lab is not None
    assert (lab.experience.k_role, lab.experience.k_global, lab.comparison.method3) == (3, 2, True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lab: {experience: {k_rolle: 1}}", r"'lab.experience.k_rolle'; did you mean 'k_role'"),
        ("lab: {experience: {near_duplicate: 2.0}}", r"'lab.experience.near_duplicate'.*got 2"),
    ],
)
def test_a_wrong_key_or_value_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        shipped_settings(write(tmp_path, text))
