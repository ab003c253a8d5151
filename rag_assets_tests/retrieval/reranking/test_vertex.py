import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.model import ConfigurationError, ServiceError
from rag_assets.model.settings import RerankSettings
from rag_assets.retrieval.reranking import load_reranker
from rag_assets.workspace import shipped_settings
from rag_assets_tests.services.google_account import TOKEN, answer_token, write_account
from rag_assets_tests.services.loopback import (
    Fault,
    Hangup,
    Loopback,
    Reply,
    Request,
    Status,
    Truncated,
    serve,
)

PASSAGES = ["cat", "a dog and a cat", "", "dog dog dog"]
SCORES = [0.03, 0.15, 0.0, 0.11]


def answer(request: Request) -> Any:
    """Answer as the ranking API does: best first, zeros left out."""
    if request.path == "/token":
        return answer_token()
    records: list[dict[str, Any]] = []
    for record in sorted(request.body["records"], key=lambda one: -len(one["content"])):
        score = len(record["content"]) / 100
        records.append({"id": record["id"], **({"score": score} if score else {})})
    return {"records": records}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    for name in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"):
        monkeypatch.delenv(name, raising=False)
    with serve(answer) as state:
        account = write_account(tmp_path / "account.json", state.url)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
        yield state


def settings_for(server: Loopback, **params: object) -> RerankSettings:
    quick = {"backoff_seconds": 0.0, "attempts": 3, "timeout_seconds": 5.0}
    return shipped_settings().retrieve.rerank.model_copy(
        update={
            "mode": "model",
            "provider": "vertex",
            "model": "semantic-ranker-default-004",
            "params": {"url": f"{server.url}/v1", **quick, **params},
        }
    )


def calls(server: Loopback) -> list[Request]:
    return [request for request in server.requests if request.path != "/token"]


def test_scores_come_in_the_order_of_the_passages(server: Loopback) -> None:
    assert load_reranker(settings_for(server)).score("dog?", PASSAGES) == SCORES


def test_the_request_is_that_of_the_ranking_api(server: Loopback) -> None:
    load_reranker(settings_for(server, project="p", location="eu")).score("dog?", ["cat", "dog"])
    (request,) = calls(server)
    assert request.path == (
        "/v1/projects/p/locations/eu/rankingConfigs/default_ranking_config:rank"
    )
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["x-goog-user-project"] == "p"
    assert request.body == {
        "model": "semantic-ranker-default-004",
        "query": "dog?",
        "records": [{"id": "0", "content": "cat"}, {"id": "1", "content": "dog"}],
        "topN": 2,
        "ignoreRecordDetailsInResponse": True,
    }


def test_project_and_place_have_defaults(server: Loopback) -> None:
    load_reranker(settings_for(server)).score("dog?", ["cat"])
    assert "/projects/project-of-the-account/locations/global/" in calls(server)[0].path


def test_a_request_holds_no_more_than_the_service_takes(server: Loopback) -> None:
    passages = ["x" * (1 + number % 50) for number in range(401)]
    scores = load_reranker(settings_for(server)).score("q", passages)
    assert scores == [len(passage) / 100 for passage in passages]
    assert [len(request.body["records"]) for request in calls(server)] == [200, 200, 1]


@pytest.mark.parametrize(
    "fault", [Status(429), Status(503), Truncated(), Hangup()], ids=repr
)  # fmt: skip
def test_passing_trouble_is_tried_again(server: Loopback, fault: Fault) -> None:
    server.faults = [Reply(answer_token()), fault, fault]
    assert load_reranker(settings_for(server)).score("q", PASSAGES) == SCORES
    assert len(calls(server)) == 3


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (Reply({"records": [{"id": "0", "score": 1}]}), ServiceError, "1 scores for 4 passages"),
        (Reply({}), ServiceError, "0 scores for 4"),
        (Reply({"records": [{"id": "x", "score": 1}]}), ServiceError, "index 'x' for 4"),
        (Status(403), ServiceError, "Discovery Engine Viewer"),
        (Status(400, message="no such model"), ConfigurationError, "no such model.*`model`"),
    ],
    ids=["count", "nothing", "index", "role", "model"],
)
def test_what_cannot_be_used_is_named(
    server: Loopback, fault: Fault, error: type[Exception], words: str
) -> None:
    server.faults = [Reply(answer_token()), fault]
    with pytest.raises(error, match=words):
        load_reranker(settings_for(server)).score("q", PASSAGES)
    assert len(calls(server)) == 1


def test_missing_credentials_say_what_to_do(
    server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(ConfigurationError, match="gcloud auth application-default login"):
        load_reranker(settings_for(server, project="no-credentials"))


def test_a_missing_extra_says_what_to_install(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "google.auth", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'rag-assets\[vertex\]'"):
        load_reranker(settings_for(server, project="no-extra"))
