"""What passes between a stage and an engine is plain: it survives pickling and equals its copy."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.embedding import EmbeddingModel
from rag_assets.embedding.stage import EncodeJob, EncodeKind, EncodeResult
from rag_assets.model import ConfigurationError, ParseFailure, ParseReport, hash_bytes
from rag_assets.model.settings import ModelSettings
from rag_assets.parsing.pool import ParseKind, ParseResult
from rag_assets.parsing.stored import ParseJob, Reader, failed_report
from rag_assets.storage.execution import Execution, Kind, Limits, LocalExecution
from rag_assets_tests.execution.elsewhere import Elsewhere, copied
from rag_assets_tests.parsing.conftest import make_settings

JOB = ParseJob(
    "c" * 64, Path("raw/a\udce9.md"), ".md", "secret", Path("out"), Path("blobs"), "request", "a"
)
FAILURE = ParseFailure("time_limit", "Too long.", kind="resource")
REPORT = replace(
    failed_report(JOB, Reader("text/markdown", "markdown", "1"), FAILURE, 0.25),
    authors=("A. One", "李二"),
    blobs=("b" * 64,),
)
WORDS = ModelSettings(kind="hashing", model="words")
MODEL = EmbeddingModel(WORDS, "f" * 64, 1024)
ENCODE = EncodeJob(0, ("cool roofs", "气孔"), MODEL)
VECTORS = EncodeResult(0, np.array([0.5, -0.25, 1e-7], np.float32), (2, 1))
VALUES = (
    JOB, REPORT, ParseResult(REPORT, reused=True), ParseKind(make_settings(workers=3)),
    ENCODE, VECTORS, EncodeKind(), Limits(1, 2.0, 3),
)  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_jobs_results_and_kinds_equal_their_pickled_copy(value: Any) -> None:
    copy = copied(value)
    assert copy == value
    assert copy is not value


def test_results_of_encoding_differ_by_a_bit() -> None:
    flat = VECTORS.flat.copy()
    flat[2] = np.nextafter(flat[2], np.float32(1))
    assert EncodeResult(0, flat, (2, 1)) != VECTORS
    assert EncodeResult(0, VECTORS.flat, (1, 2)) != VECTORS
    assert EncodeResult(1, VECTORS.flat, (2, 1)) != VECTORS
    assert VECTORS != "a text"


def test_another_engine_opens_the_same_workers_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_bytes(data := b"# Head\n\nWords.")
    job = replace(JOB, content_hash=hash_bytes(data), path=path, folder=tmp_path, blobs=tmp_path)
    engines: list[Execution] = [Elsewhere(), LocalExecution()]
    kind: Kind[ParseJob, ParseResult] = ParseKind(make_settings())
    first, second = (list(engine.map(kind, [job], pytest.fail)) for engine in engines)
    assert [result.reused for result in (*first, *second)] == [False, True]
    assert first[0].report == second[0].report
    assert first[0].report.status == "ok"
    assert isinstance(first[0].report, ParseReport)


def test_limits_are_those_of_the_settings() -> None:
    settings = make_settings(workers=3, seconds_per_document=7.5, megabytes_of_memory=300)
    assert ParseKind(settings).limits == Limits(3, 7.5, 300)
    # One after the other, as long as they take: a model takes every core.
    assert EncodeKind().limits == Limits(None, None, None)


def test_a_model_that_is_another_where_the_job_is_done_encodes_nothing() -> None:
    with pytest.raises(ConfigurationError, match=r"'words' .*fingerprint .* not ffff"):
        list(LocalExecution().map(EncodeKind(), [ENCODE], pytest.fail))
