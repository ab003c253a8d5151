"""Which engine is used, what it costs where there is nothing to do, and how work is cut for it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.embedding import embedding_models, stage
from rag_assets.embedding.stage import JOB_TEXTS, EncodeJob, EncodeKind, EncodeResult
from rag_assets.model import ConfigurationError, OutOfMemoryError, ServiceError, usable_processors
from rag_assets.model.settings import EmbedSettings, ModelSettings
from rag_assets.parsing.pool import ParseKind
from rag_assets.storage import Notify
from rag_assets.storage.execution import Kind, LocalExecution, OnPart, open_engine
from rag_assets.workspace import Workspace, configuration_digest
from rag_assets_tests.execution.harm import Act, Acts
from rag_assets_tests.execution.test_values import ENCODE, JOB
from rag_assets_tests.libraries import make_workspace
from rag_assets_tests.parsing.conftest import make_settings

ROOT = Path(__file__).parents[2]


def test_without_ray_the_message_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with open_engine("ray") as engine:
        assert list(engine.map(Acts(), [], pytest.fail)) == []
        with pytest.raises(ConfigurationError, match=r"pip install 'rag-assets\[ray\]'"):
            list(engine.map(Acts(), [Act(0)], pytest.fail))


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (None, "does not start on this machine: timed out. Run again when there is less to do"),
        ("10.0.0.5:6379", "No Ray cluster answers (RAY_ADDRESS=10.0.0.5:6379): timed out. Start"),
    ],
)
def test_a_ray_that_does_not_start_or_answer_is_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str | None, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    begun_in: list[Path] = []

    def init(*_: object, **__: object) -> None:
        begun_in.append(Path.cwd())
        # What Ray raises where its own processes do not start in its time.
        raise Exception("timed out.\nlong story")  # noqa: TRY002

    monkeypatch.setitem(
        sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False, init=init)
    )
    if address:
        monkeypatch.setenv("RAY_ADDRESS", address)
    else:
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with (
        open_engine("ray") as engine,
        pytest.raises(ServiceError, match=re.escape(told)),
    ):
        list(engine.map(Acts(), [Act(0)], pytest.fail))
    # Its workers import from that folder.
    assert begun_in == [Path("/")]
    assert Path.cwd() == tmp_path


def test_the_local_engine_imports_no_ray() -> None:
    code = "import sys; from rag_assets.storage.execution import open_engine\n"
    code += "with open_engine('local'): assert not {m for m in sys.modules if m == 'ray'}"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_the_engine_is_no_part_of_the_configuration_of_a_build(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/a.md": "# A"})
    before = configuration_digest(workspace.namespace("thesis"))
    config = tmp_path / "config.yaml"
    config.write_text(config.read_text() + "engine: ray\n")
    namespace = Workspace.open(tmp_path).namespace("thesis")
    assert namespace.settings.engine == "ray"
    assert configuration_digest(namespace) == before


@given(st.integers(0, 30_000), st.integers(1, 64))
def test_shares_hold_every_text_once(texts: int, at_once: int) -> None:
    shares = stage._shares(texts, at_once)
    assert sorted(place for share in shares for place in share) == list(range(texts))
    assert all(len(share) <= JOB_TEXTS for share in shares)
    if at_once > 1 and texts >= at_once * stage.LEAST_TEXTS:
        assert len(shares) >= at_once
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


class Three(LocalExecution):
    """Cuts work for three, tells half of each job before any is done, gives the last first."""

    def at_once(self, kind: Kind[EncodeJob, EncodeResult]) -> int:  # type: ignore[override]
        return 3

    def map(  # type: ignore[override]
        self,
        kind: Kind[EncodeJob, EncodeResult],
        jobs: list[EncodeJob],
        notify: Notify,
        *,
        on_part: OnPart[EncodeJob] | None = None,
    ) -> Iterator[EncodeResult]:
        assert len(jobs) == 3
        for job in jobs:
            if on_part:
                on_part(job, len(job.texts) // 2)
        for job in reversed(jobs):
            yield kind.open_worker().do(job, on_part)


def test_several_workers_give_what_one_gives_and_progress_never_goes_back() -> None:
    (model,) = embedding_models(
        EmbedSettings(models=[ModelSettings(kind="hashing", model="words")])
    )
    texts = [f"roof {number}" for number in range(3 * stage.LEAST_TEXTS)]
    told: list[tuple[int, int]] = []
    found = stage.encode_texts(
        model, texts, Three(), pytest.fail, lambda *figures: told.append(figures)
    )
    assert np.array_equal(np.array(found), model.embedder().encode_passages(texts))
    assert told == sorted(told)
    assert told[-1] == (len(texts), len(texts))


def test_a_document_whose_workers_died_is_a_resource_failure_and_encoding_ends_the_run() -> None:
    report = ParseKind(make_settings()).give_up(JOB, "killed").report
    assert (report.status, report.kind, report.reason_code) == (
        "failed", "resource", "memory_limit",
    )  # fmt: skip
    assert report.content_hash == JOB.content_hash
    with pytest.raises(OutOfMemoryError, match="words"):
        EncodeKind().give_up(replace(ENCODE, number=2), "killed")


def test_a_scheduler_may_lower_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    here = usable_processors()
    for asked, expected in {"1": 1, "0": 1, "9999": here, "": here, "2,4": here}.items():
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
        assert usable_processors() == expected, asked
