"""Parsers of users: as the documentation shows them, installed beside ours, and wrong ones."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from rag_assets.cli.main import build_cli
from rag_assets.model import Block, ConfigurationError, ParsedDocument, hash_bytes
from rag_assets.parsing import (
    ParseHints,
    ParseJob,
    all_parsers,
    describe_parsers,
    parse_document,
    parse_files,
    parse_fingerprint,
    parser_for,
    read_parsed,
    register_parser,
    registry,
    request_fingerprint,
    unregister_parser,
)
from rag_assets_tests.parsing.conftest import make_settings

PAGE = Path(__file__).parents[2] / "docs" / "parsers.md"
CUES = b"1\n00:00:01,000 --> 00:00:02,000\nThe lamp\nis lit.\n"


@pytest.fixture(autouse=True)
def forget_installed() -> Iterator[None]:
    registry._installed.cache_clear()
    yield
    registry._installed.cache_clear()


def install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str, points: dict[str, str]
) -> None:
    """Install a module as a package with entry points, for this process and its children."""
    information = folder / f"{name}-1.dist-info"
    information.mkdir(parents=True)
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    listed = "\n".join(f"{point} = {value}" for point, value in points.items())
    (information / "entry_points.txt").write_text(f"[rag_assets.parsers]\n{listed}\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))


def documented(marker: str) -> str:
    blocks = re.findall(r"```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (found,) = (block for block in blocks if block.startswith(marker))
    return str(found)


@pytest.fixture
def documented_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads(documented("# pyproject.toml"))["project"]
    points = project["entry-points"]["rag_assets.parsers"]
    install(tmp_path, monkeypatch, "rag_subtitles", documented("# rag_subtitles.py"), points)


def parse_in_worker(folder: Path, data: bytes, extension: str) -> tuple[Any, ParsedDocument]:
    path = folder / f"file{extension}"
    path.write_bytes(data)
    digest = hash_bytes(data)
    job = ParseJob(digest, path, extension, None, folder / "out", folder / "blobs", "request")
    (report,) = parse_files([job], make_settings())
    return report, read_parsed(job.folder / str(report.parsed_file))[0]


@pytest.mark.usefixtures("documented_parser")
def test_the_documented_parser_reads_its_files_in_a_worker(tmp_path: Path) -> None:
    report, document = parse_in_worker(tmp_path, CUES, ".srt")
    assert (report.status, report.parser) == ("ok", "subtitles")
    assert document.text == "The lamp is lit."


@pytest.mark.usefixtures("documented_parser")
def test_the_documented_test_passes() -> None:
    names: dict[str, Any] = {}
    # In a worker the parser comes from its entry point; the documented test needs none.
    exec(documented("# test_rag_subtitles.py"), names)  # noqa: S102 - our own page
    names["test_every_cue_is_a_paragraph"]()


@pytest.mark.usefixtures("documented_parser")
def test_the_documented_option_reaches_the_parser_and_the_fingerprint() -> None:
    options = yaml.safe_load(documented("parse:"))["parse"]["parser_options"]
    plain, timed = make_settings(), make_settings(parser_options=options)
    assert parse_document(CUES, ParseHints(".srt"), timed).text == "[00:00:01] The lamp is lit."
    kind = "application/x-subrip"
    assert parse_fingerprint("0", kind, plain) != parse_fingerprint("0", kind, timed)


@pytest.mark.usefixtures("documented_parser")
def test_the_extension_that_a_parser_claims_is_part_of_the_fingerprint() -> None:
    named, other = (
        request_fingerprint("0", name, None, make_settings()) for name in (".srt", ".x")
    )
    assert named != other


@pytest.mark.usefixtures("documented_parser")
def test_installed_parsers_are_listed_with_their_entry_point() -> None:
    (line,) = (line for line in describe_parsers() if line.parser == "subtitles")
    assert line.media_type == "application/x-subrip"
    assert line.extensions == ("srt",)
    assert line.origin == "entry point 'subtitles' (rag_subtitles:SubtitleParser)"
    shown = CliRunner().invoke(build_cli(), ["preview"]).output
    assert re.search(r"application/x-subrip\s+\.srt ", shown)
    assert "text/csv" in shown


def test_options_of_a_parser_that_there_is_not_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"parser_options\.subtitels.*csv"):
        registry.check_parser_options({"subtitels": {}})


class Shouting:
    """Reads what two built-in parsers read."""

    name = "shouting"
    version = "1"
    media_types = ("text/csv", "text/plain")
    reads_stem = False

    def parse(self, data: bytes, hints: ParseHints, settings: object) -> ParsedDocument:
        text = data.decode().upper().strip()
        return ParsedDocument(text, "text/plain", blocks=(Block("paragraph", 0, len(text)),))


def test_a_registered_parser_takes_several_built_in_types_and_gives_them_back() -> None:
    parser = Shouting()
    register_parser(parser)
    try:
        for extension in (".csv", ".txt"):
            assert parse_document(b"a,b", ParseHints(extension), make_settings()).text == "A,B"
        assert parser_for("text/markdown").name == "markdown"
    finally:
        unregister_parser(parser)
    assert parser_for("text/csv").name == "csv"


SOURCE = """
class Parser:
    name, version, media_types, reads_stem = "mine", "1", ("text/csv", "application/x-mine"), False
    def parse(self, data, hints, settings):
        raise NotImplementedError

def make():
    return Parser()

READY = Parser()
TEXT = Parser()
TEXT.media_types = "text/csv"
BUILT_IN = Parser()
BUILT_IN.name = "csv"
CLAIMS = Parser()
CLAIMS.extensions = {"foo": "application/x-other"}

def fail():
    raise RuntimeError("no licence")
"""


@pytest.mark.parametrize("value", ["mine:Parser", "mine:make", "mine:READY"])
def test_an_entry_point_may_be_a_class_a_function_or_a_parser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    install(tmp_path, monkeypatch, "mine", SOURCE, {"one": value})
    parsers = all_parsers()
    assert parsers["text/csv"].name == parsers["application/x-mine"].name == "mine"
    assert parsers["text/plain"].name == "text"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("mine:Missing", "cannot be loaded"),
        ("absent:Parser", "cannot be loaded"),
        ("mine:fail", "RuntimeError: no licence"),
        ("mine:SOURCELESS", "cannot be loaded"),
        ("mine:__name__", "is no parser"),
        ("mine:TEXT", "media_types must be a list"),
        ("mine:CLAIMS", "extensions must map"),
        ("mine:BUILT_IN", "as another parser"),
    ],
)
def test_a_wrong_entry_point_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    install(tmp_path, monkeypatch, "mine", SOURCE, {"wrong": value})
    with pytest.raises(ConfigurationError) as caught:
        all_parsers()
    assert said in str(caught.value)
    assert f"entry point 'wrong' ({value})" in str(caught.value)


def test_two_packages_for_one_media_type_are_both_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "a", monkeypatch, "mine", SOURCE, {"first": "mine:Parser"})
    other = SOURCE.replace('"mine", "1"', '"other", "1"')
    install(tmp_path / "b", monkeypatch, "other", other, {"second": "other:Parser"})
    with pytest.raises(ConfigurationError, match=r"'first'.*'second'"):
        all_parsers()


def test_a_parser_that_no_other_process_can_make_is_refused_where_it_is_needed() -> None:
    class Here:
        name = "here"
        version = "1"
        media_types = ("text/x-here",)
        reads_stem = False

        def parse(self, *_: object) -> ParsedDocument:
            raise NotImplementedError

    parser: Any = Here()
    register_parser(parser)
    try:
        (carried,) = registry.carried_recipes()
        assert "must stand at the top level of a module" in carried["refused"]
        with pytest.raises(ConfigurationError, match="'here'"):
            registry.import_registered([carried])
    finally:
        unregister_parser(parser)
