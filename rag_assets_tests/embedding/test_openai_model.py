import logging
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag_assets.embedding import (
    load_embedder,
    load_query_encoder,
    load_tokenizer,
    model_dimension,
    model_fingerprint,
)
from rag_assets.embedding.remote import (
    OpenAIService,
    RemoteEmbedder,
    fingerprint,
)
from rag_assets.model import ConfigurationError, ServiceError, UsageError, hash_text
from rag_assets.model.settings import ModelSettings
from rag_assets.workspace import Workspace, choose_secrets, create_workspace
from rag_assets_tests.embedding.vector_server import (
    DIMENSION,
    answer_openai,
    openai_answer,
    vector_of,
)
from rag_assets_tests.services.loopback import (
    Fault,
    Hangup,
    Loopback,
    Reply,
    Slow,
    Status,
    Truncated,
    serve,
)

KEY = "sk-very-secret"
VARIABLE = "MADE_UP_KEY"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-host")


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serve(answer_openai) as state:
        yield state


def settings_for(server: Loopback, **changes: object) -> ModelSettings:
    return ModelSettings.model_validate(
        {
            "kind": "openai_compatible",
            "model": "made-up",
            "base_url": f"{server.url}/v1",
            "api_key_variable": VARIABLE,
            "dimension": DIMENSION,
            "backoff_seconds": 0.0,
            "timeout_seconds": 5.0,
            "attempts": 3,
            **changes,
        }
    )


def unit(text: str, dimension: int = DIMENSION) -> list[float]:
    vector = vector_of(text, dimension)
    return [value / math.hypot(*vector) for value in vector]


def test_vectors_are_those_of_the_service_at_length_one(server: Loopback) -> None:
    model = load_embedder(settings_for(server))
    vectors = model.encode_passages(["one", "二", "three"])
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(np.array([unit("one"), unit("二"), unit("three")]), abs=1e-6)
    assert (model.name, model.dimension) == ("made-up", DIMENSION)


def test_the_request_is_the_one_that_the_settings_describe(server: Loopback) -> None:
    load_embedder(settings_for(server)).encode_passages(["one"])
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "made-up", "input": ["one"], "dimensions": DIMENSION, "encoding_format": "float",
    }  # fmt: skip


def test_prompts_stand_before_the_texts(server: Loopback) -> None:
    settings = settings_for(server, query_prompt="query: ", passage_prompt="passage: ")
    load_embedder(settings).encode_passages(["one"])
    load_query_encoder(settings).encode_queries(["two"])
    assert [body["input"] for body in server.bodies] == [["passage: one"], ["query: two"]]


def test_every_text_keeps_its_place_when_batches_run_at_once(server: Loopback) -> None:
    texts = [f"text {number}" for number in range(50)]
    told: list[tuple[int, int]] = []
    model = load_embedder(settings_for(server, batch_texts=7, concurrency=4))
    vectors = model.encode_passages(texts, lambda done, total: told.append((done, total)))
    assert vectors == pytest.approx(np.array([unit(text) for text in texts]), abs=1e-6)
    assert sorted(len(body["input"]) for body in server.bodies) == [1, 7, 7, 7, 7, 7, 7, 7]
    assert told[-1] == (50, 50)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_nothing_is_sent_for_no_texts(server: Loopback) -> None:
    model = load_embedder(settings_for(server))
    assert model.encode_passages([]).shape == (0, DIMENSION)
    assert model.encode_queries([]).shape == (0, DIMENSION)
    assert server.requests == []


@pytest.mark.parametrize(
    "fault", [Status(429), Status(500), Status(503), Truncated(), Hangup()], ids=repr
)
def test_passing_trouble_is_tried_again(server: Loopback, fault: Fault) -> None:
    server.faults = [fault, fault]
    vectors = load_embedder(settings_for(server)).encode_passages(["one"])
    assert vectors == pytest.approx(np.array([unit("one")]), abs=1e-6)
    assert len(server.requests) == 3


def test_an_answer_that_does_not_come_in_time_is_asked_for_again(server: Loopback) -> None:
    server.faults = [Slow()]
    vectors = load_embedder(settings_for(server, timeout_seconds=0.3)).encode_passages(["one"])
    assert vectors == pytest.approx(np.array([unit("one")]), abs=1e-6)
    assert len(server.requests) == 2


def test_the_service_is_given_the_time_that_it_asks_for(server: Loopback) -> None:
    server.faults = [Status(429, {"Retry-After": "7"}), Status(500)]
    settings = settings_for(server)
    waits: list[float] = []
    model = RemoteEmbedder(
        settings, OpenAIService(settings), 64, sleep=waits.append,
    )  # fmt: skip
    model.encode_passages(["one"])
    assert waits == [7.0, 0.0]


@pytest.mark.parametrize("fault", [Status(503), Truncated(), Hangup()], ids=repr)
def test_lasting_trouble_stops_the_run_with_advice(server: Loopback, fault: Fault) -> None:
    server.faults = [fault] * 99
    with pytest.raises(ServiceError, match=r"made-up failed 3 times.*run the same command again"):
        load_embedder(settings_for(server, concurrency=1)).encode_passages(["one"])
    assert len(server.requests) == 3


def test_after_an_error_no_further_batch_is_sent(server: Loopback) -> None:
    server.faults = [Status(401)] * 99
    model = load_embedder(settings_for(server, batch_texts=1, concurrency=1))
    with pytest.raises(ServiceError):
        model.encode_passages([f"text {number}" for number in range(40)])
    assert len(server.requests) < 40


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (openai_answer([[1.0] * 4]), "1 vectors for 2 texts"),
        (openai_answer([[1.0] * 4] * 3), "3 vectors for 2 texts"),
        (openai_answer([[1.0] * 4, [1.0] * 3]), r"3 numbers \(index 1\), where 4 were"),
        (openai_answer([[1.0] * 4, [1.0, math.nan, 1.0, 1.0]]), "NaN or infinity .* index 1"),
        (openai_answer([[0.0] * 4, [1.0] * 4]), "zeros at index 0"),
        (
            {"object": "list", "data": openai_answer([[1.0] * 4] * 2)["data"][::-1]},
            "index 1 where index 0 was due",
        ),
        ({"message": "welcome"}, "something else than embeddings.*base_url"),
    ],
    ids=["too-few", "too-many", "dimension", "nan", "zeros", "order", "no-embeddings"],
)  # fmt: skip
def test_nonsense_is_named(server: Loopback, content: object, words: str) -> None:
    server.faults = [Reply(content)]
    with pytest.raises(ServiceError, match=words):
        load_embedder(settings_for(server)).encode_passages(["one", "two"])
    assert len(server.requests) == 1


def test_a_refused_passage_does_not_stop_the_others(
    server: Loopback, caplog: pytest.LogCaptureFixture
) -> None:
    model = load_embedder(settings_for(server, batch_texts=8, concurrency=1))
    texts = [f"text {number}" for number in range(11)]
    texts[5] = "REFUSED because it is long"
    with caplog.at_level(logging.WARNING):
        vectors = model.encode_passages(texts)
    assert not vectors[5].any()
    kept = [place for place in range(11) if place != 5]
    assert vectors[kept] == pytest.approx(np.array([unit(texts[i]) for i in kept]), abs=1e-6)
    assert isinstance(model, RemoteEmbedder)
    assert model.refused.keys() == {hash_text(texts[5])}
    assert "maximum context length" in model.refused[hash_text(texts[5])]
    assert "has no vector" in caplog.text


def test_settings_that_the_service_refuses_stop_the_run_at_once(server: Loopback) -> None:
    server.faults = [Status(400, message="dimensions are not supported")] * 99
    with pytest.raises(ConfigurationError, match=r"dimensions are not supported.*`dimension`"):
        load_embedder(settings_for(server)).encode_passages(["one", "two", "three"])
    assert len(server.requests) == 2


def test_a_refused_question_is_an_error(server: Loopback) -> None:
    with pytest.raises(UsageError, match="refuses the question"):
        load_query_encoder(settings_for(server)).encode_queries(["REFUSED?"])


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_its_variable_and_is_not_shown(server: Loopback, status: int) -> None:
    server.faults = [Status(status, message=f"Incorrect key {KEY}")]
    with pytest.raises(ServiceError, match=VARIABLE) as caught:
        load_embedder(settings_for(server)).encode_passages(["one"])
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1


def test_a_key_that_the_service_repeats_is_not_shown(
    server: Loopback, caplog: pytest.LogCaptureFixture
) -> None:
    server.faults = [Status(500, message=f"trouble with {KEY}")] * 9
    with caplog.at_level(logging.DEBUG, "rag_assets"), pytest.raises(ServiceError) as caught:
        load_embedder(settings_for(server)).encode_passages(["one"])
    assert KEY not in str(caught.value)
    assert KEY not in caplog.text


def test_a_missing_key_says_where_to_write_it(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(ConfigurationError, match=rf"Write {VARIABLE}=… into the workspace's \.env"):
        load_embedder(settings_for(server, model="without-key"))


def test_a_key_may_stand_in_the_workspace(
    server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    create_workspace(tmp_path / "w", "papers")
    with (tmp_path / "w" / ".env").open("a") as file:
        file.write(f"{VARIABLE}=from-the-file\n")
    choose_secrets(Workspace.open(tmp_path / "w"))
    load_embedder(settings_for(server, model="key-in-file")).encode_passages(["one"])
    assert server.requests[0].headers["authorization"] == "Bearer from-the-file"


def test_no_key_is_sent_to_a_host_for_which_none_is_named(server: Loopback) -> None:
    load_embedder(settings_for(server, api_key_variable=None)).encode_passages(["one"])
    assert "authorization" not in server.requests[0].headers


def test_the_organisation_at_openai_is_told_to_no_other_host(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-made-up")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-made-up")
    load_embedder(settings_for(server)).encode_passages(["one"])
    assert [name for name in server.requests[0].headers if name.startswith("openai")] == []


def test_openai_itself_is_asked_with_its_own_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    settings = ModelSettings(kind="openai_compatible", model="text-embedding-3-small")
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        load_embedder(settings)


def test_a_missing_client_says_what_to_install(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'rag-assets\[openai\]'"):
        load_embedder(settings_for(server, model="without-client"))


def test_a_dimension_that_is_not_set_is_asked_for_once_and_never_sent(server: Loopback) -> None:
    settings = settings_for(server, dimension=None, model="asked")
    assert model_dimension(settings) == model_dimension(settings) == DIMENSION
    load_embedder(settings).encode_passages(["one"])
    assert len(server.requests) == 2
    assert all("dimensions" not in body for body in server.bodies)


def test_another_dimension_is_asked_of_the_service(server: Loopback) -> None:
    vectors = load_embedder(settings_for(server, dimension=3)).encode_passages(["one"])
    assert vectors == pytest.approx(np.array([unit("one", 3)]), abs=1e-6)


class TestFingerprint:
    base = ModelSettings(kind="openai_compatible", model="m", base_url="https://host/v1")

    @pytest.mark.parametrize(
        "change",
        [
            {"model": "n"},
            {"base_url": "https://other/v1"},
            {"dimension": 256},
            {"query_prompt": "query: "},
            {"passage_prompt": "passage: "},
        ],
        ids=str,
    )
    def test_what_decides_a_vector_changes_it(self, change: dict[str, object]) -> None:
        assert fingerprint(self.base.model_copy(update=change)) != fingerprint(self.base)

    @pytest.mark.parametrize(
        "change",
        [
            {"base_url": "https://me:word@host/v1/"},
            {"api_key_variable": "OTHER_KEY"},
            {"batch_texts": 1},
            {"attempts": 1},
            {"timeout_seconds": 1.0},
            {"max_tokens": 100},
        ],
        ids=str,
    )
    def test_what_does_not_leaves_it(self, change: dict[str, object]) -> None:
        assert fingerprint(self.base.model_copy(update=change)) == fingerprint(self.base)

    def test_it_needs_neither_key_nor_network(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY")
        settings = ModelSettings(kind="openai_compatible", model="text-embedding-3-small")
        assert model_fingerprint(settings) == fingerprint(settings)
        assert load_tokenizer(settings).limit == 341
