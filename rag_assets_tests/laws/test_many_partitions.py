"""Law 5 at many partitions: what a run opens grows with its partitions, not with their square."""

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet
import pytest

from rag_assets.defs.assets import EngineResource, stage
from rag_assets.defs.assets.stage import StageCall
from rag_assets.model import ParsedDocument
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing import ParseHints, observe_parses, register_parser, unregister_parser
from rag_assets.publishing import collect_garbage
from rag_assets.storage import records
from rag_assets.workspace import Namespace, Workspace, require_inventory
from rag_assets_tests.laws.driver import (
    build,
    make_workspace,
    observe_encoding,
    put,
    silent,
    state_of,
)

PNG = b"\x89PNG\r\n\x1a\n"
WITHOUT_INDEX = ("inventory", "parse_reports", "parents", "chunks", "embeddings")


@pytest.fixture(
    params=[
        pytest.param(1, id="16 partitions"),
        pytest.param(2, id="256 partitions", marks=pytest.mark.slow),
    ]
)
def digits(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def workspace(tmp_path: Path, digits: int) -> Workspace:
    return make_workspace(tmp_path / "library", lib={"hex_digits": digits})


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts every opening of a record by `stage/partition`."""
    seen: Counter[str] = Counter()

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, **named: Any) -> Any:
            if isinstance(path, Path):
                seen["/".join(path.with_suffix("").parts[-2:])] += 1
            return function(path, *arguments, **named)

        return call

    for module, name in (
        (pyarrow.parquet, "read_metadata"), (pyarrow.parquet, "read_schema"),
        (records, "read_groups"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, counting(getattr(module, name)))
    return seen


def notes(partitions: tuple[str, ...], said: str) -> dict[str, str]:
    """Return a text for some partitions, the same ones and another text for other `said`.

    The first section is said in all of them, the second by each note alone.
    """
    chosen = partitions[:: max(1, len(partitions) // 32)]
    found: dict[str, str] = {}
    number = 0
    while len(found) < len(chosen):
        text = f"# Shared\n\nRoofs are cool.\n\n# Own\n\nNote {number} of {said} says so.\n"
        key = hashlib.sha256(text.encode()).hexdigest()[: len(partitions[0])]
        if key in chosen:
            found.setdefault(key, text)
        number += 1
    return found


def test_vectors_are_looked_up_once_a_run(workspace: Workspace, opened: Counter[str]) -> None:
    namespace = workspace.namespace("lib")
    old = notes(namespace.partition_keys, "old")
    count = len(old)
    for key, text in old.items():
        put(workspace, f"evidence/{key}.md", text)
    with observe_encoding() as first:
        build(namespace, WITHOUT_INDEX)
    # What several partitions of a run say is encoded for the first and found for the others.
    assert len(first) == len(set(first)) == count + 1
    for key, text in notes(namespace.partition_keys, "new").items():
        put(workspace, f"evidence/{key}.md", text)
    build(namespace, ("inventory", "parse_reports", "parents", "chunks"))
    opened.clear()
    with observe_encoding() as encoded:
        built = build(namespace, ("embeddings",))
    assert built.computed["embeddings"] == count
    assert len(encoded) == count
    assert all("of new says so" in text for text in encoded)
    by_stage = Counter[str]()
    for record, times in opened.items():
        by_stage[record.partition("/")[0]] += times
    # A handful of openings for each partition, whether there is anything to do or not.
    partitions = len(namespace.partition_keys)
    assert count <= by_stage["embeddings"] <= 4 * partitions + 10 * count
    assert by_stage["chunks"] + by_stage["parse_reports"] <= 8 * partitions


@pytest.mark.parametrize("digits", [1])
def test_a_vector_of_another_partition_is_found(workspace: Workspace) -> None:
    namespace = workspace.namespace("lib")
    old = notes(namespace.partition_keys, "old")
    for key, text in old.items():
        put(workspace, f"evidence/{key}.md", text)
    build(namespace, WITHOUT_INDEX)
    for key, text in old.items():  # other bytes, so another partition, and the same passages
        put(workspace, f"evidence/{key}.md", text.replace("\n", "\r\n"))
    with observe_encoding() as encoded:
        built = build(namespace, WITHOUT_INDEX)
    assert built.computed["embeddings"] == len(old)
    assert encoded == []


def test_parse_reports_of_one_partition_open_nothing_of_the_others(
    workspace: Workspace, opened: Counter[str]
) -> None:
    namespace = workspace.namespace("lib")
    for key, text in notes(namespace.partition_keys, "old").items():
        put(workspace, f"evidence/{key}.md", text)
    build(namespace, ("inventory", "parse_reports"))
    one = sorted(notes(namespace.partition_keys, "old"))[7]
    put(workspace, f"evidence/{one}.md", notes(namespace.partition_keys, "new")[one])
    build(namespace, ("inventory",))
    opened.clear()
    context: Any = SimpleNamespace(
        run=SimpleNamespace(tags={}),
        log=logging.getLogger(),
        resources=SimpleNamespace(engine=EngineResource()),
    )
    call = StageCall(context, namespace, require_inventory(namespace), [one], silent, None)
    with observe_parses() as parses:
        outcomes = stage._parse(call)
    assert list(outcomes) == [one]
    assert len(parses) == 1
    assert {record for record in opened if record.startswith("parse_reports/")} == {
        f"parse_reports/{one}"
    }
    # The other files that were opened are the parses of its one document.
    others = {record.partition("/")[0] for record in opened} - {"parse_reports"}
    assert others <= {one}


class PngParser:
    name = "png"
    version = "1"
    media_types = ("image/png",)
    reads_stem = False

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        return ParsedDocument(text=data.removeprefix(PNG).decode(), media_type="image/png")


@pytest.fixture
def parser() -> Iterator[PngParser]:
    made = PngParser()
    yield made
    unregister_parser(made)


def parsed_by(namespace: Namespace) -> list[str]:
    """Scan and parse, and return the contents that were parsed."""
    with observe_parses() as parses:
        build(namespace, ("inventory", "parse_reports"))
    assert all(what == "parsed" for what, _ in parses)
    return sorted(content for _, content in parses)


def test_installing_a_parser_parses_its_own_media_types_and_no_other(
    workspace: Workspace, parser: PngParser
) -> None:
    namespace = workspace.namespace("lib")
    texts: dict[str, bytes] = {
        f"evidence/{n}.{kind}": start + f"Words {n}.".encode()
        for n in range(8)
        for kind, start in (("md", b""), ("csv", b"a,b\n1,"), ("gif", b"GIF89a\0"), ("png", PNG))
    }
    for name, data in texts.items():
        put(workspace, name, data)
    pictures = sorted(
        hashlib.sha256(data).hexdigest() for name, data in texts.items() if name.endswith("png")
    )
    assert len(parsed_by(namespace)) == len(texts)
    assert parsed_by(namespace) == []
    register_parser(parser)
    assert parsed_by(namespace) == pictures
    assert parsed_by(namespace) == []
    parser.version = "2"
    assert parsed_by(namespace) == pictures
    unregister_parser(parser)
    assert parsed_by(namespace) == pictures
    assert parsed_by(namespace) == []


@pytest.mark.parametrize("digits", [1])
def test_a_parse_that_another_version_made_alike_is_found_after_its_old_file_is_gone(
    workspace: Workspace, parser: PngParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = workspace.namespace("lib")
    register_parser(parser)
    put(workspace, "evidence/picture.png", PNG + b"A roof is cool. " * 20)
    build(namespace)
    before = state_of(namespace)
    parser.version = "2"
    again = build(namespace)
    assert again.computed == {
        "parse_reports": 1,
        "parents": 0,
        "chunks": 0,
        "chunk_edits": 0,
        "embeddings": 0,
    }
    after = state_of(namespace)
    assert after["publication"] != before["publication"]
    assert after["rows"]["chunks"] == before["rows"]["chunks"]
    later = time.time() + 7200
    monkeypatch.setattr(time, "time", lambda: later)
    gone = collect_garbage(namespace, [], silent)
    assert gone.parses == 1
    path = workspace.namespace_file("lib")
    path.write_text(path.read_text().replace("max_tokens: 24", "max_tokens: 20"))
    assert build(workspace.namespace("lib")).computed["chunks"] == 1
