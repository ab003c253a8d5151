"""Law 3: a clean build equals every history."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    multiple,
    rule,
    run_state_machine_as_test,
)

from rag_assets.embedding import model_fingerprints
from rag_assets.publishing import collect_garbage
from rag_assets.retrieval import Reader
from rag_assets.storage import current_folder
from rag_assets.workspace import Namespace, read_journal, require_inventory, take_inventory
from rag_assets_tests.editing.drafting import edit_at_random
from rag_assets_tests.laws.driver import (
    SMALL,
    STAGES,
    build,
    clean_build,
    make_workspace,
    put,
    put_sidecar,
    silent,
    state_of,
)
from rag_assets_tests.laws.strategies import paths, sidecars, texts

# What may be changed in the settings, with edits of chunks that must outlive it.
CUTS = (
    SMALL["chunk"],
    {"target_tokens": 24, "min_tokens": 10, "max_tokens": 40, "parent_tokens": 80},
)
# Measured on two cores: a history of twelve steps with its clean build takes 2 to 4 s.
_QUICK_EXAMPLES = 5
_LONG_EXAMPLES = int(os.environ.get("RAG_PARITY_EXAMPLES", "60"))
_SUPPRESSED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def assert_parity(namespace: Namespace, scratch: Path) -> None:
    """Compare with a clean build; and say that taking the inventory again changes nothing."""
    build(namespace)
    # Before the copy: both have the same journal.
    journal = namespace.journal.read_bytes() if namespace.journal.exists() else b""
    take_inventory(namespace, notify=silent)
    after = namespace.journal.read_bytes() if namespace.journal.exists() else b""
    assert after == journal, "reconciling again appended to the journal"
    clean = clean_build(namespace, scratch / "clean")
    try:
        found, expected = state_of(namespace), state_of(clean)
        for part, value in expected.items():
            assert found[part] == value, part
        assert read_journal(clean.journal) == read_journal(namespace.journal)
    finally:
        shutil.rmtree(clean.workspace.root)


class Histories(RuleBasedStateMachine):
    """What people do to a folder of files, with builds in between, whole and partial."""

    files = Bundle("files")
    removed = Bundle("removed")
    settings: ClassVar[Mapping[str, Any]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.scratch = Path(tempfile.mkdtemp(prefix="parity-"))
        self.workspace = make_workspace(self.scratch / "library", lib=self.settings)
        self.namespace = self.workspace.namespace("lib")
        self.raw = self.workspace.root / "raw"

    @initialize(
        target=files,
        first=st.lists(st.tuples(paths, texts()), min_size=2, max_size=4, unique_by=lambda f: f[0]),
    )
    def begin(self, first: list[tuple[str, bytes]]) -> object:
        for path, text in first:
            put(self.workspace, path, text)
        build(self.namespace)
        return multiple(*(path for path, _ in first))

    @rule(target=files, path=paths, text=texts())
    def add(self, path: str, text: bytes) -> str:
        put(self.workspace, path, text)
        return path

    @rule(path=files, text=texts(), appends=st.booleans())
    def edit(self, path: str, text: bytes, appends: bool) -> None:
        if (self.raw / path).is_file():
            before = (self.raw / path).read_bytes() if appends else b""
            put(self.workspace, path, before + text)

    @rule(target=files, source=consumes(files), path=paths)
    def move(self, source: str, path: str) -> object:
        """Rename, or move between evidence and instruction; what stood there goes."""
        if not (self.raw / source).is_file():
            return multiple()
        (self.raw / path).parent.mkdir(parents=True, exist_ok=True)
        (self.raw / source).replace(self.raw / path)
        if (self.raw / f"{source}.meta.yaml").exists():
            (self.raw / f"{source}.meta.yaml").replace(self.raw / f"{path}.meta.yaml")
        return path

    @rule(target=files, source=files, path=paths)
    def copy(self, source: str, path: str) -> object:
        if not (self.raw / source).is_file() or source == path:
            return multiple()
        put(self.workspace, path, (self.raw / source).read_bytes())
        return path

    @rule(one=files, other=files)
    def exchange(self, one: str, other: str) -> None:
        if (self.raw / one).is_file() and (self.raw / other).is_file():
            first, second = (self.raw / one).read_bytes(), (self.raw / other).read_bytes()
            put(self.workspace, one, second)
            put(self.workspace, other, first)

    @rule(target=removed, path=consumes(files))
    def remove(self, path: str) -> object:
        if not (self.raw / path).is_file():
            return multiple()
        text = (self.raw / path).read_bytes()
        (self.raw / path).unlink()
        return path, text

    @rule(target=files, file=consumes(removed))
    def restore(self, file: tuple[str, bytes]) -> str:
        path, text = file
        put(self.workspace, path, text)
        return path

    @rule(path=files, fields=sidecars)
    def edit_sidecar(self, path: str, fields: str | dict[str, object]) -> None:
        text = fields if isinstance(fields, str) else yaml.safe_dump(fields, allow_unicode=True)
        put(self.workspace, f"{path}.meta.yaml", text)

    @rule(path=files)
    def remove_sidecar(self, path: str) -> None:
        (self.raw / f"{path}.meta.yaml").unlink(missing_ok=True)

    @rule(seed=st.integers(0, 2**20))
    def edit_chunks(self, seed: int) -> None:
        edit_at_random(self.namespace, seed)

    @rule(sizes=st.sampled_from(CUTS))
    def cut_otherwise(self, sizes: dict[str, int]) -> None:
        text = yaml.safe_dump({**SMALL, **self.settings, "chunk": sizes}, allow_unicode=True)
        self.workspace.namespace_file("lib").write_text(text, encoding="utf-8")
        self.namespace = self.workspace.namespace("lib")

    @rule()
    def build_everything(self) -> None:
        build(self.namespace)

    @rule(
        stages=st.sets(st.sampled_from(STAGES), min_size=1),
        partitions=st.none()
        | st.lists(st.sampled_from("0123456789abcdef"), min_size=4, max_size=9),
    )
    def build_in_part(self, stages: set[str], partitions: list[str] | None) -> None:
        build(self.namespace, stages, partitions)

    @rule()
    def take_stock(self) -> None:
        take_inventory(self.namespace, notify=silent)

    @rule()
    def collect_garbage(self) -> None:
        collect_garbage(self.namespace, model_fingerprints(self.namespace.settings.embed), silent)

    def teardown(self) -> None:
        try:
            assert_parity(self.namespace, self.scratch)
        finally:
            shutil.rmtree(self.scratch)


class HistoriesWithEntities(Histories):
    """The same, of a library that finds entities."""

    settings: ClassVar[Mapping[str, Any]] = {
        "graph": {"enabled": True, "names": [["stomata", "气孔"], "roof"]}
    }


def run_histories(
    examples: int, steps: int, *, fixed: bool, machine: type[Histories] = Histories
) -> None:
    phases = [Phase.explicit, Phase.generate] + ([] if fixed else [Phase.shrink])
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=fixed,
            database=None,
            deadline=None,
            phases=phases,
            suppress_health_check=_SUPPRESSED,
        ),
    )


def test_clean_build_equals_short_histories() -> None:
    run_histories(_QUICK_EXAMPLES, 14, fixed=True)


def test_clean_build_equals_short_histories_with_entities() -> None:
    run_histories(_QUICK_EXAMPLES // 2, 14, fixed=True, machine=HistoriesWithEntities)


@pytest.mark.slow
def test_clean_build_equals_long_histories() -> None:
    """RAG_PARITY_EXAMPLES sets how many; other ones each time."""
    run_histories(_LONG_EXAMPLES, 30, fixed=False)


def test_clean_build_equals_a_history_with_every_event(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library")
    namespace = workspace.namespace("lib")
    raw = workspace.root / "raw"
    roofs = "# Roofs\n\nCool roofs reflect sunlight and stay cool. They are white.\n"
    leaf = "# 叶片\n\n二氧化碳浓度升高使植物叶片的气孔导度下降。\n"
    put(workspace, "evidence/roofs.md", roofs)
    put(workspace, "evidence/叶片.md", leaf)
    put(workspace, "instruction/rubric.txt", "Name the stomata in Latin. Cite with pages.")
    build(namespace)
    put(workspace, "evidence/copy.md", roofs)
    put(workspace, "evidence/roofs-crlf.md", roofs.replace("\n", "\r\n"))
    build(namespace)
    put(workspace, "evidence/roofs.md", roofs + "\nThey cost little.\n")
    build(namespace, ("inventory", "parse_reports", "search_index"))
    (raw / "evidence/叶片.md").rename(raw / "instruction/叶片.md")
    build(namespace, STAGES, "0123")
    (raw / "instruction/rubric.txt").unlink()
    build(namespace)
    put(workspace, "instruction/rubric.txt", "Name the stomata in Latin. Cite with pages.")
    put_sidecar(workspace, "evidence/copy.md", doc_uid="kept", citable=False, tags=["屋顶"])
    build(namespace)
    (raw / "instruction/叶片.md").rename(raw / "evidence/叶片.md")
    build(namespace)
    # Nothing but a path changes: same bytes, uid, citability and metadata.
    (raw / "evidence/叶片.md").rename(raw / "evidence/气孔.md")
    assert_parity(namespace, tmp_path)


def test_broken_sidecar_says_the_same_wherever_the_workspace_lies(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library")
    put(workspace, "evidence/roofs.md", "Cool roofs reflect sunlight.")
    put(workspace, "evidence/roofs.md.meta.yaml", "title: [broken\n")
    put(workspace, "evidence/leaf.md", "Stomata close.")
    put(workspace, "evidence/leaf.md.meta.yaml", b"title: \xff\n")
    assert_parity(workspace.namespace("lib"), tmp_path)


@pytest.mark.model
@pytest.mark.slow
def test_clean_build_equals_a_history_with_the_real_model(tmp_path: Path) -> None:
    model = {"embed": {"kind": "sentence_transformers", "model": "all-MiniLM-L6-v2"}}
    workspace = make_workspace(tmp_path / "library", lib=model)
    namespace = workspace.namespace("lib")
    text = "Cool roofs reflect sunlight and stay cool. They are white and cheap. "
    put(workspace, "evidence/roofs.md", text)
    build(namespace)
    put(workspace, "evidence/roofs.md", text + "Nobody dislikes them in a hot summer at all.")
    put(workspace, "evidence/leaf.md", "Stomata close when the air is dry, and water is saved.")
    build(namespace)
    (workspace.root / "raw/evidence/leaf.md").rename(workspace.root / "raw/evidence/stomata.md")
    build(namespace)
    clean = clean_build(namespace, tmp_path / "clean")

    inventory = require_inventory(namespace)
    assert inventory.digest == require_inventory(clean).digest
    found, expected = _vectors(namespace), _vectors(clean)
    assert sorted(found) == sorted(expected)
    assert len(found) > 2
    for chunk_id, vector in found.items():
        # Vectors have length 1; a batch of other texts changes their last bits.
        assert float(np.dot(vector, expected[chunk_id])) > 1 - 1e-5
    state, clean_state = state_of(namespace), state_of(clean)
    for part in ("publication", "uids", "stages", "rows", "tables", "documents"):
        assert state[part] == clean_state[part], part
    for search, hits in clean_state["searches"].items():
        assert [chunk for chunk, _ in state["searches"][search]] == [chunk for chunk, _ in hits]


def _vectors(namespace: Namespace) -> dict[str, np.ndarray]:
    folder = current_folder(namespace.publications, namespace.name)
    with Reader(folder, namespace.name, folder.name) as reader:
        uids = reader.documents()["doc_uid"].to_pylist()
        rows = [row for uid in uids for row in reader.fetch_chunks(uid).to_pylist()]
    return {row["chunk_id"]: np.array(row["vector"], np.float64) for row in rows}
