"""What a sidecar or an override says is one line of shown text."""

from pathlib import Path

from rag_assets.workspace import read_sidecar


def test_a_sidecar_holds_lines_of_shown_text(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf.meta.yaml"
    path.write_text(
        'title: "Roofs \\e]0;owned\\a\\e[31mred\\u202e"\ncitation_key: "lee\\nTY  - JOUR"\n'
        'authors: ["Ann\\tLee", "Bo\\x9b31m Li"]\n',
        "utf-8",
    )
    sidecar = read_sidecar(path)
    assert sidecar.title == "Roofs red"
    assert sidecar.citation_key == "lee TY - JOUR"
    assert sidecar.authors == ("Ann Lee", "Bo Li")
