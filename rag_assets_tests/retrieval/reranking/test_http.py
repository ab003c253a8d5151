import math
from collections.abc import Iterator
from typing import Any

import pytest

from rag_assets.model import ConfigurationError, ServiceError
from rag_assets.model.settings import RerankSettings
from rag_assets.retrieval.reranking import load_reranker
from rag_assets.retrieval.reranking.services import HttpReranker
from rag_assets.workspace import shipped_settings
from rag_assets_tests.services.loopback import (
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
PASSAGES = ["cat", "a dog and a cat", "dog dog dog"]


def answer(request: Request) -> Any:
    """Answer in the form that the path names, best first; a passage's score is its length."""
    texts = request.body.get("documents") or request.body["texts"]
    ranked = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
    if request.path == "/tei":
        return [{"index": index, "score": float(len(texts[index]))} for index in ranked]
    results = [{"index": index, "relevance_score": len(texts[index])} for index in ranked]
    return {"data": results} if request.path == "/voyage" else {"id": "x", "results": results}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serve(answer) as state:
        yield state


def settings_for(server: Loopback, path: str = "/rerank", **params: object) -> RerankSettings:
    quick = {"backoff_seconds": 0.0, "attempts": 3, "timeout_seconds": 5.0}
    return shipped_settings().retrieve.rerank.model_copy(
        update={
            "mode": "model",
            "provider": "http",
            "model": "made-up-reranker",
            "params": {"url": f"{server.url}{path}", **quick, **params},
        }
    )


@pytest.mark.parametrize(
    ("path", "form"), [("/rerank", "cohere"), ("/voyage", "cohere"), ("/tei", "tei")]
)
def test_scores_come_in_the_order_of_the_passages(server: Loopback, path: str, form: str) -> None:
    model = load_reranker(settings_for(server, path, form=form))
    assert model.score("dog?", PASSAGES) == [3.0, 15.0, 11.0]
    assert model.name == "made-up-reranker"
    assert model.can_read("任何语言")


def test_the_usual_request_names_model_query_and_documents(server: Loopback) -> None:
    load_reranker(settings_for(server, api_key_variable=VARIABLE)).score("dog?", PASSAGES)
    (request,) = server.requests
    assert request.body == {
        "model": "made-up-reranker", "query": "dog?", "documents": PASSAGES, "top_n": 3,
    }  # fmt: skip
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_the_request_of_text_embeddings_inference_has_texts(server: Loopback) -> None:
    load_reranker(settings_for(server, "/tei", form="tei")).score("dog?", PASSAGES)
    (request,) = server.requests
    assert request.body == {"query": "dog?", "texts": PASSAGES, "truncate": True}
    assert "authorization" not in request.headers


def test_many_passages_go_in_batches(server: Loopback) -> None:
    passages = ["x" * size for size in range(1, 8)]
    scores = load_reranker(settings_for(server, batch=3)).score("q", passages)
    assert scores == [float(size) for size in range(1, 8)]
    assert [len(body["documents"]) for body in server.bodies] == [3, 3, 1]


def test_nothing_is_sent_for_no_passages(server: Loopback) -> None:
    assert load_reranker(settings_for(server)).score("q", []) == []
    assert server.requests == []


@pytest.mark.parametrize(
    "fault", [Status(429), Status(500), Truncated(), Hangup()], ids=repr
)  # fmt: skip
def test_passing_trouble_is_tried_again(server: Loopback, fault: Fault) -> None:
    server.faults = [fault, fault]
    assert load_reranker(settings_for(server)).score("q", PASSAGES) == [3.0, 15.0, 11.0]
    assert len(server.requests) == 3


def test_an_answer_that_does_not_come_in_time_is_asked_for_again(server: Loopback) -> None:
    server.faults = [Slow()]
    model = load_reranker(settings_for(server, timeout_seconds=0.3))
    assert model.score("q", PASSAGES) == [3.0, 15.0, 11.0]


def test_the_service_is_given_the_time_that_it_asks_for(server: Loopback) -> None:
    server.faults = [Status(429, {"Retry-After": "5"})]
    waits: list[float] = []
    HttpReranker(settings_for(server), sleep=waits.append).score("q", PASSAGES)
    assert waits == [5.0]


def test_lasting_trouble_ends_after_the_allowed_tries(server: Loopback) -> None:
    server.faults = [Status(503, message=f"busy {KEY}")] * 9
    model = load_reranker(settings_for(server, api_key_variable=VARIABLE))
    with pytest.raises(ServiceError, match=r"made-up-reranker failed 3 times") as caught:
        model.score("q", PASSAGES)
    assert len(server.requests) == 3
    assert KEY not in str(caught.value)


def result(index: object, score: object = 1.0) -> dict[str, object]:
    return {"index": index, "relevance_score": score}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"results": [result(0), result(2)]}, "2 scores for 3 passages, none of index 1"),
        ({"results": [result(0), result(1), result(1)]}, "index 1 twice"),
        ({"results": [result(3)]}, "index 3 for 3 passages"),
        ({"results": [result("0")]}, "index '0' for 3"),
        ({"results": [result(0, math.nan)]}, "nan as the score of index 0"),
        ({"results": [result(0, None)]}, "None as the score of index 0"),
        ({"message": "welcome"}, "something else than scores.*url"),
    ],
    ids=["missing", "twice", "beyond", "no-number", "nan", "no-score", "no-scores"],
)
def test_nonsense_is_named(server: Loopback, content: object, words: str) -> None:
    server.faults = [Reply(content)]
    with pytest.raises(ServiceError, match=words):
        load_reranker(settings_for(server)).score("q", PASSAGES)
    assert len(server.requests) == 1


def test_what_the_service_refuses_points_at_the_settings(server: Loopback) -> None:
    server.faults = [Status(422, message="missing field texts")]
    with pytest.raises(ConfigurationError, match=r"missing field texts.*`form`"):
        load_reranker(settings_for(server)).score("q", PASSAGES)


def test_a_refused_key_names_its_variable(server: Loopback) -> None:
    server.faults = [Status(401, message=KEY)]
    with pytest.raises(ServiceError, match=VARIABLE) as caught:
        load_reranker(settings_for(server, api_key_variable=VARIABLE)).score("q", PASSAGES)
    assert KEY not in str(caught.value)


def test_a_missing_key_says_where_to_write_it(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(ConfigurationError, match=rf"Write {VARIABLE}=…"):
        load_reranker(settings_for(server, "/no-key", api_key_variable=VARIABLE))


@pytest.mark.parametrize(
    ("params", "words"),
    [({"urll": "x"}, "urll: Extra inputs"), ({"form": "jina"}, "form: "), ({"batch": 0}, "batch")],
    ids=str,
)
def test_wrong_parameters_are_named(
    server: Loopback, params: dict[str, object], words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words):
        load_reranker(settings_for(server, **params))


def test_a_url_is_needed() -> None:
    settings = shipped_settings().retrieve.rerank.model_copy(update={"provider": "http"})
    with pytest.raises(ConfigurationError, match="url: Field required"):
        load_reranker(settings)


def test_the_fingerprint_is_of_endpoint_form_and_model(server: Loopback) -> None:
    base = HttpReranker(settings_for(server)).fingerprint
    assert HttpReranker(settings_for(server, batch=1)).fingerprint == base
    assert HttpReranker(settings_for(server, form="tei")).fingerprint != base
    assert HttpReranker(settings_for(server, "/v2")).fingerprint != base
