"""What parsers read is what was reviewed."""

from collections.abc import Callable

import pytest

from rag_assets.parsing import all_parsers
from rag_assets_tests.golden.papers import documents
from rag_assets_tests.golden.rendering import FOLDER, parse_golden

DOCUMENTS = list(documents())
# What has no golden parse, and why.
WITHOUT = {
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": "nothing here writes it",
    "application/x-tika-ooxml-protected": "read by the parser of what is inside",
}


@pytest.mark.parametrize(("name", "make"), DOCUMENTS, ids=[name for name, _ in DOCUMENTS])
def test_a_parse_is_what_was_reviewed(name: str, make: Callable[[], bytes]) -> None:
    reviewed = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    now = parse_golden(name, make())
    assert now.splitlines() == reviewed.splitlines(), "run `make golden`, then read the difference"


def test_every_file_is_of_a_document() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.txt" for name, _ in DOCUMENTS}


def test_every_format_has_a_golden_parse() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.txt")]
    seen = {text.split("type      ", 1)[1].split("\n", 1)[0] for text in texts}
    assert set(all_parsers()) - seen == set(WITHOUT)
