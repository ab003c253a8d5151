"""What a service of vectors answers, made up: each text's vector can be known from the text."""

from typing import Any

from rag_assets_tests.services.loopback import Body, Request, Status

DIMENSION = 4


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """Return a vector that is not of length 1 and differs from text to text."""
    return [float(sum(map(ord, text)) % (7 + place) + 1) for place in range(dimension)]


def answer_openai(request: Request) -> Any:
    """Answer `POST /embeddings`; a text with `REFUSED` in it is too long."""
    body = request.body
    if any("REFUSED" in text for text in body["input"]):
        return Status(400, message="maximum context length is 8192 tokens")
    dimension = body.get("dimensions", DIMENSION)
    return openai_answer([vector_of(text, dimension) for text in body["input"]])


def openai_answer(vectors: list[list[float]]) -> Body:
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in enumerate(vectors)
    ]
    return {"object": "list", "model": "m", "data": data, "usage": {}}
