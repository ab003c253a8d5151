"""The list of stages stands once, and everything that walks over stages follows it."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rag_assets
from rag_assets.workspace import shipped_settings
from rag_assets.workspace.stages import (
    partitioned,
    published_stages,
    read_by,
    recorded,
    stage_named,
    stage_names,
    switched_on,
    way_from,
    way_to,
)
from rag_assets_tests.e2e.workspaces import outside_environment
from rag_assets_tests.libraries import make_workspace

PACKAGE = Path(rag_assets.__file__).parent


def test_a_stage_reads_one_that_stands_before_it() -> None:
    names = stage_names()
    assert len(set(names)) == len(names)
    for name in names[1:]:
        before = stage_named(name).after
        assert before in names[: names.index(name)]
    assert stage_named(names[0]).after is None


def test_the_way_to_a_stage_is_what_it_is_made_through() -> None:
    assert way_to("inventory") == ("inventory",)
    assert way_to("embeddings") == (
        "inventory", "raw_files", "parse_reports", "parents", "chunks", "chunk_edits", "embeddings",
    )  # fmt: skip
    assert partitioned(way_to("parents")) == ("raw_files", "parse_reports", "parents")
    assert recorded(way_to("parents")) == ("parse_reports", "parents")
    assert published_stages() == (
        "parse_reports", "parents", "chunks", "chunk_edits", "embeddings", "entities",
    )  # fmt: skip
    assert way_from("chunk_edits") == ("chunk_edits", "embeddings", "entities", "search_index")
    with pytest.raises(KeyError):
        way_to("chunk")


def test_entities_are_a_stage_only_where_they_are_switched_on() -> None:
    off = shipped_settings()
    on = off.model_copy(update={"graph": off.graph.model_copy(update={"enabled": True})})
    assert switched_on(stage_names(), on) == stage_names()
    assert set(stage_names()) - set(switched_on(stage_names(), off)) == {"entities"}
    assert read_by("search_index", off) == ("embeddings",)
    assert read_by("search_index", on) == ("embeddings", "entities")


def test_no_other_module_lists_stages() -> None:
    names = set(stage_names())
    listing = {
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Tuple | ast.List | ast.Set)
        and len({e.value for e in node.elts if isinstance(e, ast.Constant)} & names) > 2
    }
    assert listing == set()


# What somebody writes who adds a stage: one module …
MODULE = '''
"""The asset `sentence_counts`: how many sentences each chunk has."""

import pyarrow as pa

from rag_assets.defs.assets.stage import build_stage_asset
from rag_assets.chunking import split_sentences
from rag_assets.chunking.rows import chunks_schema
from rag_assets.model import hash_fields
from rag_assets.workspace.stages import DocumentStage, upstream_fingerprints
from rag_assets.storage import Entry, read_entries, read_rows

SCHEMA = pa.schema(
    [("content_hash", pa.string()), ("order", pa.int32()), ("sentences", pa.int32())]
)


def build_sentence_counts_asset(declared):
    return build_stage_asset(
        declared, "sentence_counts", "Sentences of each chunk.", {"python"}, "1", _work
    )


def _work(call):
    def wanted(partition):
        return upstream_fingerprints(call.namespace, call.inventory, partition, "chunks", "rule")

    def compute(partition, stale):
        path = call.namespace.record("chunks", partition)
        upstream = read_entries(path)
        for content in stale:
            chunks = read_rows(path, chunks_schema(), [content], ["order", "text"]).to_pylist()
            counts = [len(split_sentences(chunk["text"], [])) for chunk in chunks]
            rows = pa.table(
                [[content] * len(chunks), [chunk["order"] for chunk in chunks], counts],
                schema=SCHEMA,
            )
            of = upstream[content].digest
            entry = Entry(hash_fields("rule", of), hash_fields(counts), len(rows), {"of": of})
            yield content, entry, rows

    stage = DocumentStage("sentence_counts", SCHEMA, wanted, compute)
    return stage.refresh(
        call.namespace, call.inventory, call.partitions, call.notify, call.on_progress
    )
'''
# … and one line of the list. The commands run as ever.
COMMANDS = """
import json, sys
from pathlib import Path

from rag_assets.workspace.stages import listed

listed.STAGES = (*listed.STAGES, listed.Stage("sentence_counts", "chunks"))

import rag_assets.defs.assets

rag_assets.defs.assets.__path__.append(sys.argv[1])

from click.testing import CliRunner

from rag_assets.cli import build_cli

def run(*arguments):
    ran = CliRunner().invoke(build_cli(), arguments)
    assert ran.exit_code == 0, (ran.output, ran.exception)
    return json.loads(ran.stdout)

first = run("ingest", "--json")
roofs = Path("raw/evidence/roofs.md")
roofs.write_text(roofs.read_text() + "\\n\\nOne more sentence.\\n")
second = run("ingest", "--json")
stored = run("sql", "--json", "select stage, count(*) as n from stages group by 1")
run("gc", "--json")
print(json.dumps([first, second, stored]))
"""


@pytest.mark.slow
def test_a_new_stage_is_one_module_and_one_line(tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "sentence_counts.py").write_text(MODULE)
    workspace = make_workspace(
        tmp_path / "library",
        {
            "evidence/roofs.md": "# Roofs\n\nA green roof was cooler. It held the rain.\n",
            "evidence/streets.md": "# Streets\n\nTrees give shade.\n",
        },
    )
    ran = subprocess.run(
        [sys.executable, "-c", COMMANDS, str(more)],
        cwd=workspace.root,
        env=outside_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    first, second, stored = json.loads(ran.stdout.splitlines()[-1])
    assert _of(first)["sentence_counts"]["documents"] == 2
    assert _of(first)["sentence_counts"]["computed"] == 2
    assert _of(first)["sentence_counts"]["sentence_counts"] == 2  # a row a chunk
    # An edit costs this stage the edited document, like every other.
    assert _of(second)["sentence_counts"]["computed"] == _of(second)["chunks"]["computed"] == 1
    # The edited document's old rows are kept for a while, as those of other stages are.
    assert {row["stage"]: row["n"] for row in stored}["sentence_counts"] == 3


def _of(report: dict[str, Any]) -> dict[str, Any]:
    stages: dict[str, Any] = report["thesis"]["stages"]
    return stages
