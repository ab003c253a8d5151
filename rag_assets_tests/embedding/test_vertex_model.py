import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.embedding import load_embedder, load_query_encoder, load_tokenizer, model_dimension
from rag_assets.embedding.remote import fingerprint
from rag_assets.model import ConfigurationError, ServiceError
from rag_assets.model.settings import ModelSettings
from rag_assets_tests.embedding.vector_server import vector_of
from rag_assets_tests.services.google_account import TOKEN, answer_token, write_account
from rag_assets_tests.services.loopback import (
    Body,
    Fault,
    Hangup,
    Loopback,
    Reply,
    Request,
    Slow,
    Status,
    Truncated,
    serve,
)

KEY = "very-secret-key"
VARIABLE = "MADE_UP_KEY"


def answer(request: Request) -> Any:
    """Answer as Vertex AI does, with the first numbers of a vector of length 1."""
    if request.path == "/token":
        return answer_token()
    vectors = [cut_vector(text, size) for text, size in texts_of(request)]
    if request.path.endswith(":batchEmbedContents"):
        return {"embeddings": [{"values": vector} for vector in vectors]}
    return {"embedding": {"values": vectors[0]}}


def texts_of(request: Request) -> list[tuple[str, int]]:
    return [
        (one["content"]["parts"][0]["text"], one["embedContentConfig"]["outputDimensionality"])
        for one in parts_of(request)
    ]


def parts_of(request: Request) -> list[Body]:
    parts: list[Body] = request.body.get("requests", [request.body])
    return parts


def cut_vector(text: str, size: int) -> list[float]:
    whole = vector_of(text, 2 * size)
    return [value / math.hypot(*whole) for value in whole[:size]]


def unit(text: str, size: int) -> list[float]:
    vector = cut_vector(text, size)
    return [value / math.hypot(*vector) for value in vector]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT",
                 "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(VARIABLE, KEY)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serve(answer) as state:
        yield state


def settings_for(server: Loopback, **changes: object) -> ModelSettings:
    return ModelSettings.model_validate(
        {
            "kind": "vertex",
            "model": "gemini-embedding-001",
            "base_url": server.url,
            "api_key_variable": VARIABLE,
            "project": "p",
            "dimension": 6,
            "backoff_seconds": 0.0,
            "timeout_seconds": 5.0,
            "attempts": 3,
            **changes,
        }
    )


def test_cut_vectors_are_brought_to_length_one(server: Loopback) -> None:
    vectors = load_embedder(settings_for(server)).encode_passages(["one", "二"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)
    assert vectors == pytest.approx(np.array([unit("one", 6), unit("二", 6)]), abs=1e-6)


def test_passages_and_questions_have_their_own_task(server: Loopback) -> None:
    load_embedder(settings_for(server)).encode_passages(["one", "two"])
    load_query_encoder(settings_for(server)).encode_queries(["three"])
    tasks = [
        [part["embedContentConfig"]["taskType"] for part in parts_of(request)]
        for request in server.requests
    ]
    assert tasks == [["RETRIEVAL_DOCUMENT", "RETRIEVAL_DOCUMENT"], ["RETRIEVAL_QUERY"]]


def test_nothing_is_cut_off_in_silence(server: Loopback) -> None:
    load_embedder(settings_for(server)).encode_passages(["one", "two"])
    (request,) = server.requests
    assert [part["embedContentConfig"]["autoTruncate"] for part in parts_of(request)] == [False] * 2


def test_the_newer_models_get_one_vector_a_text_as_well(server: Loopback) -> None:
    settings = settings_for(server, model="gemini-embedding-2")
    vectors = load_embedder(settings).encode_passages(["one", "two"])
    assert vectors == pytest.approx(np.array([unit("one", 6), unit("two", 6)]), abs=1e-6)


def test_the_path_names_project_place_and_model(server: Loopback) -> None:
    load_embedder(settings_for(server, location="europe-west4")).encode_passages(["one"])
    (request,) = server.requests
    assert request.headers["x-goog-api-key"] == KEY
    assert request.path.endswith(
        "/projects/p/locations/europe-west4/publishers/google/models/"
        "gemini-embedding-001:embedContent"
    )


def test_1536_numbers_are_asked_for_by_default(server: Loopback) -> None:
    settings = settings_for(server, dimension=None)
    assert model_dimension(settings) == 1536
    assert load_embedder(settings).encode_passages(["one"]).shape == (1, 1536)
    assert server.requests[0].body["embedContentConfig"]["outputDimensionality"] == 1536


def test_a_service_account_of_the_workspace_is_enough(
    server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = write_account(tmp_path / "account.json", server.url)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
    settings = settings_for(server, api_key_variable=None, project=None)
    load_embedder(settings).encode_passages(["one"])
    token, call = server.requests
    assert token.path == "/token"
    assert call.headers["authorization"] == f"Bearer {TOKEN}"
    assert "/projects/project-of-the-account/locations/global/" in call.path


def test_an_account_that_google_refuses_says_what_to_do(
    server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = write_account(tmp_path / "account.json", server.url)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
    server.faults = [Status(400)] * 9
    settings = settings_for(server, api_key_variable=None, model="refused-account")
    with pytest.raises(ServiceError, match="gcloud auth application-default login"):
        load_embedder(settings).encode_passages(["one"])


def test_missing_credentials_say_what_to_do(
    server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    settings = settings_for(server, api_key_variable=None, model="no-account")
    with pytest.raises(ConfigurationError, match="GOOGLE_APPLICATION_CREDENTIALS="):
        load_embedder(settings)


def test_a_missing_client_says_what_to_install(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "google.genai", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'rag-assets\[vertex\]'"):
        load_embedder(settings_for(server, model="without-client"))


@pytest.mark.parametrize(
    "fault", [Status(429), Status(503), Truncated(), Hangup()], ids=repr
)  # fmt: skip
def test_passing_trouble_is_tried_again(server: Loopback, fault: Fault) -> None:
    server.faults = [fault, fault]
    vectors = load_embedder(settings_for(server)).encode_passages(["one"])
    assert vectors == pytest.approx(np.array([unit("one", 6)]), abs=1e-6)
    assert len(server.requests) == 3


def test_an_answer_that_does_not_come_in_time_is_asked_for_again(server: Loopback) -> None:
    server.faults = [Slow()]
    vectors = load_embedder(settings_for(server, timeout_seconds=0.3)).encode_passages(["one"])
    assert vectors == pytest.approx(np.array([unit("one", 6)]), abs=1e-6)
    assert len(server.requests) == 2


def test_lasting_trouble_stops_the_run_with_advice(server: Loopback) -> None:
    server.faults = [Status(503, message=f"busy {KEY}")] * 9
    with pytest.raises(ServiceError, match="run the same command again") as caught:
        load_embedder(settings_for(server)).encode_passages(["one"])
    assert len(server.requests) == 3
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"embeddings": [{"values": [1.0] * 6}]}, "1 vectors for 2 texts"),
        ({"embeddings": [{"values": [1.0] * 5}] * 2}, "5 numbers"),
        ({}, "0 vectors for 2 texts"),
    ],
    ids=["count", "dimension", "nothing"],
)
def test_nonsense_is_named(server: Loopback, content: object, words: str) -> None:
    server.faults = [Reply(content)]
    with pytest.raises(ServiceError, match=words):
        load_embedder(settings_for(server)).encode_passages(["one", "two"])


def test_a_request_holds_no_more_tokens_than_the_service_takes(server: Loopback) -> None:
    texts = [f"{number} " * 3000 for number in range(7)]
    load_embedder(settings_for(server, concurrency=1)).encode_passages(texts)
    assert [len(parts_of(request)) for request in server.requests] == [3, 3, 1]


def test_the_fingerprint_is_of_the_model_not_of_who_asks() -> None:
    base = ModelSettings(kind="vertex", model="gemini-embedding-001")
    same: list[dict[str, object]] = [
        {"dimension": 1536}, {"project": "q"}, {"location": "us-east1"},
        {"api_key_variable": "K"}, {"batch_texts": 1},
    ]  # fmt: skip
    other: list[dict[str, object]] = [
        {"dimension": 768}, {"model": "text-embedding-005"}, {"passage_prompt": "p: "},
        {"base_url": "https://proxy.invalid"},
    ]  # fmt: skip
    assert {fingerprint(base.model_copy(update=change)) for change in same} == {fingerprint(base)}
    found = {fingerprint(base.model_copy(update=change)) for change in other} | {fingerprint(base)}
    assert len(found) == len(other) + 1


def test_sizes_are_counted_without_the_service() -> None:
    tokenizer = load_tokenizer(ModelSettings(kind="vertex", model="gemini-embedding-001"))
    assert tokenizer.count(["two words", "两字"]) == [2, 2]
    assert tokenizer.limit == 1365
