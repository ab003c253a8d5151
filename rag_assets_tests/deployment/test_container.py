"""deploy/Containerfile and .dockerignore: what an image is built of. No image is built here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.embedding import model_folder
from rag_assets.model import ConfigurationError

ROOT = Path(__file__).parents[2]
CONTAINERFILE = (ROOT / "deploy/Containerfile").read_text("utf-8").replace("\\\n", " ")
ARGUMENTS = {name: text.split() for name, text in re.findall(r'ARG (\w+)="(.*)"', CONTAINERFILE)}


def names(text: str) -> set[str]:
    return set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE))


def chosen(listed: list[str], wanted: int, *files: str) -> set[str]:
    """Run the image's own filter of pins."""
    (function,) = re.findall(r"chosen\(\) \{.*?wanted'; \}", CONTAINERFILE)
    text = "".join((ROOT / name).read_text("utf-8") for name in files)
    command = f'{function}; chosen "{" ".join(listed)}" {wanted}'
    return names(
        subprocess.run(
            ["sh", "-c", command], input=text, capture_output=True, text=True, check=True
        ).stdout
    )


def test_the_context_holds_what_is_copied_and_nothing_else() -> None:
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", CONTAINERFILE, re.MULTILINE)
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert lines[1] == "*"
    assert {line[1:] for line in lines if line[0] == "!"} == set(" ".join(copied).split())


def test_an_image_holds_no_development_tools_and_nothing_that_is_left_out() -> None:
    pinned = names((ROOT / "constraints.txt").read_text("utf-8"))
    left_out = ARGUMENTS["LEFT_OUT"]
    assert set(left_out) <= pinned
    assert chosen(left_out, 0, "constraints.txt") == pinned - set(left_out)
    assert pinned & names((ROOT / "constraints-dev.txt").read_text("utf-8")) == set()
    final = CONTAINERFILE.split("\nFROM ")[-1]
    assert re.findall(r"COPY --from=build (\S+)", final) == ["/opt/rag"]
    into_image = re.findall(r"install /opt/rag (\S+)", CONTAINERFILE)
    assert into_image == ["constraints-cpu.txt", "run.txt"]


def test_the_wheel_is_built_by_pinned_packages() -> None:
    build = ARGUMENTS["BUILD"]
    assert chosen(build, 1, "constraints.txt", "constraints-dev.txt") == set(build)


def test_the_desk_and_a_code_server_need_nothing_that_is_left_out() -> None:
    modules = {name.replace("-", "_") for name in ARGUMENTS["LEFT_OUT"]}
    modules |= {"cv2", "PIL", "sklearn", "dagster_dg_cli"}
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({sorted(modules)}))\n"
        "import rag_assets.definitions, rag_assets.desk.application\n"
        "from rag_assets.parsing.pdf.opening import load_pymupdf\n"
        "load_pymupdf()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_model_of_sentence_transformers_names_the_way_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model_folder, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="--build-arg LEFT_OUT="):
        model_folder.require_torch("embed.models")
