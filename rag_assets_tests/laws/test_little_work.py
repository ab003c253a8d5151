"""Law 5: work is proportional to change. Counted where files are parsed and texts encoded."""

from pathlib import Path

import pytest

from rag_assets.embedding import model_fingerprints
from rag_assets.parsing.pool import observe_parses
from rag_assets.publishing import collect_garbage
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.laws.driver import (
    Built,
    build,
    files_of,
    observe_encoding,
    put,
    put_sidecar,
    silent,
    state_of,
)

PARAGRAPHS = [
    "Cool roofs reflect sunlight and stay cooler than dark ones on a summer day in the city.",
    "Stomata close when the air is dry, and so the leaf saves water that it would have lost.",
    "二氧化碳浓度升高使植物叶片的气孔导度下降，水分利用效率因此提高。",
    "Night ventilation flushes the warmth of the day out of the heavy walls of old houses.",
    "行道树在夏季为行人提供遮荫，降低体感温度，也降低墙面的温度。",
]


def text_of(paragraphs: list[str]) -> str:
    """Sections of one paragraph each, so that no passage spans two."""
    return "".join(f"# Part {n}\n\n{text}\n\n" for n, text in enumerate(paragraphs))


class Work:
    """What a build did, seen from outside."""

    def __init__(self, namespace: Namespace) -> None:
        records, index = namespace.records, namespace.publications
        before = files_of(records), files_of(index)
        with observe_parses() as parses, observe_encoding() as encoded:
            self.built: Built = build(namespace)
        self.parses, self.encoded = list(parses), list(encoded)
        after = files_of(records), files_of(index)
        self.wrote_records = before[0] != after[0]
        self.wrote_index = before[1] != after[1]
        assert self.built.published is not None
        self.is_new = self.built.published.is_new

    @property
    def is_none(self) -> bool:
        """Nothing parsed, computed, encoded or written; publishing is looked at apart."""
        nothing_computed = not any(self.built.computed.values())
        return not self.parses and not self.encoded and nothing_computed and not self.wrote_records


@pytest.fixture
def library(workspace: Workspace) -> Workspace:
    put(workspace, "evidence/roofs.md", text_of(PARAGRAPHS))
    put(workspace, "evidence/table.csv", "year,temperature\n2001,14.2\n2002,14.5\n")
    put(workspace, "instruction/guidance/rubric.txt", "Cite carbon budgets with a page.")
    put(workspace, "evidence/empty.md", "")
    put(workspace, "evidence/broken.md", b"\x00\x01\x02\xff\xfe")
    return workspace


@pytest.fixture
def namespace(library: Workspace) -> Namespace:
    namespace = library.namespace("lib")
    first = Work(namespace)
    # The counters count: a build of something new is seen by each of them.
    assert len(first.parses) == 5
    assert len(first.encoded) == len(set(first.encoded)) > len(PARAGRAPHS)
    assert first.wrote_records
    assert first.wrote_index
    assert first.is_new
    return namespace


def test_second_build_parses_encodes_and_writes_nothing(namespace: Namespace) -> None:
    again = Work(namespace)
    assert again.is_none
    assert not again.is_new
    assert not again.wrote_index


def test_edited_markdown_file_reembeds_only_its_changed_chunk(
    library: Workspace, namespace: Namespace
) -> None:
    edited = [*PARAGRAPHS]
    edited[1] = "Stomata open again after rain, which nobody had expected of such an old leaf."
    put(library, "evidence/roofs.md", text_of(edited))
    work = Work(namespace)
    assert len(work.parses) == 1
    assert work.built.computed == {
        "parse_reports": 1,
        "parents": 1,
        "chunks": 1,
        "chunk_edits": 0,
        "embeddings": 1,
    }
    (encoded,) = work.encoded
    assert "after rain" in encoded


def test_paragraph_put_first_encodes_nothing_but_itself(
    library: Workspace, namespace: Namespace
) -> None:
    put(library, "evidence/roofs.md", "# Preface\n\nA word before all.\n\n" + text_of(PARAGRAPHS))
    (encoded,) = Work(namespace).encoded
    assert "A word before all" in encoded


def test_text_that_is_known_from_another_file_is_not_encoded_again(
    library: Workspace, namespace: Namespace
) -> None:
    put(library, "evidence/other.md", text_of(PARAGRAPHS).replace("\n", "\r\n"))
    work = Work(namespace)
    assert len(work.parses) == 1
    assert work.encoded == []


@pytest.mark.parametrize(
    "target",
    ["instruction/guidance/roofs.md", "evidence/renamed.md", "evidence/deep/er/roofs.MD"],
)
def test_moved_file_costs_a_publication_and_no_parse(
    library: Workspace, namespace: Namespace, target: str
) -> None:
    path = library.root / "raw" / target
    path.parent.mkdir(parents=True, exist_ok=True)
    (library.root / "raw/evidence/roofs.md").rename(path)
    work = Work(namespace)
    assert work.is_none
    assert work.is_new


def test_removed_and_restored_file_rewrites_no_record_and_computes_nothing(
    library: Workspace, namespace: Namespace
) -> None:
    before = state_of(namespace)
    path = library.root / "raw/evidence/roofs.md"
    text = path.read_bytes()
    path.unlink()
    removed = Work(namespace)
    assert removed.is_none
    assert removed.is_new
    assert state_of(namespace)["counts"]["documents"] == before["counts"]["documents"] - 1
    path.write_bytes(text)
    restored = Work(namespace)
    assert restored.is_none
    # The publication of that state still stands: readers go back to it.
    assert state_of(namespace) == before


def test_copied_file_computes_nothing(library: Workspace, namespace: Namespace) -> None:
    put(library, "evidence/copy.md", text_of(PARAGRAPHS))
    work = Work(namespace)
    assert work.is_none
    assert work.is_new


def test_edited_sidecar_computes_nothing(library: Workspace, namespace: Namespace) -> None:
    put_sidecar(library, "evidence/roofs.md", title="Roofs", doc_uid="cool", citable=False)
    work = Work(namespace)
    assert work.is_none
    assert work.is_new


def test_touched_file_computes_and_publishes_nothing(
    library: Workspace, namespace: Namespace
) -> None:
    put(library, "evidence/roofs.md", text_of(PARAGRAPHS))
    work = Work(namespace)
    assert work.is_none
    assert not work.is_new
    assert not work.wrote_index


def test_failed_document_is_not_tried_again_until_it_changes(
    library: Workspace, namespace: Namespace
) -> None:
    put(library, "evidence/another.md", "Another file makes this a build with work to do.")
    work = Work(namespace)
    assert len(work.parses) == 1
    put(library, "evidence/broken.md", "Whole again.")
    assert len(Work(namespace).parses) == 1


def test_garbage_collection_of_nothing_writes_nothing(namespace: Namespace) -> None:
    before = files_of(namespace.records, namespace.publications)
    collect_garbage(namespace, model_fingerprints(namespace.settings.embed), silent)
    assert files_of(namespace.records, namespace.publications) == before


def test_other_chunk_sizes_parse_nothing(library: Workspace, namespace: Namespace) -> None:
    path: Path = library.namespace_file("lib")
    path.write_text(
        path.read_text(encoding="utf-8").replace("max_tokens: 24", "max_tokens: 20"),
        encoding="utf-8",
    )
    work = Work(library.namespace("lib"))
    assert work.parses == []
    assert work.built.computed["parents"] == 0
    assert work.built.computed["chunks"] == 3
