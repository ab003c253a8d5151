"""The scripted model behind HTTP on this machine: chat completions, and faults to order."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from rag_assets.llm import Completion, Message, Script
from rag_assets.llm.scripted import find_answer, make_completion

Fault = Literal[429, 500, 503, "slow", "truncated", "not_json", "no_seed"]
_POLL_SECONDS = 0.01
_SLOW_SECONDS = 60.0


@dataclass
class ScriptedServer:
    """A running server: where it is and what it has seen.

    Args:
        faults: what goes wrong at the first calls, one each.
        base_url: for `llm.base_url`; ends in `/v1`.
        requests: the bodies of all calls, in order of arrival.
        authorizations: the header of each.
    """

    script: Script
    api_key: str | None
    faults: Sequence[Fault]
    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serve_script(
    script: Script, *, api_key: str | None = None, faults: Sequence[Fault] = ()
) -> Iterator[ScriptedServer]:
    """Serve a script on 127.0.0.1 until the block ends; with `api_key`, refuse calls without it."""
    state = ScriptedServer(script, api_key, faults)
    handler = type("Handler", (_Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    state.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: ScriptedServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Say nothing on standard error."""

    def do_POST(self) -> None:
        """Answer `/v1/chat/completions`."""
        body: Any = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        state, script = self.state, self.state.script
        number = len(state.requests)
        state.requests.append(body)
        state.authorizations.append(self.headers.get("Authorization", ""))
        if state.api_key is not None and state.authorizations[-1] != f"Bearer {state.api_key}":
            self._fail(401, f"wrong key: {state.authorizations[-1]}")
            return
        if body.get("model") != script.model:
            self._fail(404, f"the model '{body.get('model')}' does not exist")
            return
        messages = tuple(Message(**message) for message in body["messages"])
        found = find_answer(script, messages)
        if found is None:
            self._fail(400, f"the script has no answer to {messages[-1].content!r}")
            return
        fault = state.faults[number] if number < len(state.faults) else None
        if isinstance(fault, int):
            self._fail(fault, "a fault of the script")
            return
        if fault == "no_seed" and "seed" in body:
            self._fail(422, "seed: extra inputs are not permitted")
            return
        if fault == "slow":
            state.ended.wait(_SLOW_SECONDS)
        if fault == "not_json":
            self._send(b"<html>Bad gateway</html>")
            return
        completion = make_completion(script, found, messages)
        if body.get("stream"):
            self._stream(completion.text, is_cut=fault == "truncated")
            return
        answer = _whole(completion, has_logprobs=bool(body.get("logprobs")))
        self._send(json.dumps(answer).encode(), cut=fault == "truncated")

    def _stream(self, text: str, *, is_cut: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        half = len(text) // 2
        pieces = [(text[:half], None)] + [(text[half:], "stop")] * (not is_cut)
        for piece, end in pieces:
            choice = {"index": 0, "delta": {"content": piece}, "finish_reason": end}
            chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "demo"}
            self.wfile.write(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode())

    def _fail(self, status: int, message: str) -> None:
        error = {"message": message, "type": "scripted", "param": None, "code": None}
        self._send(json.dumps({"error": error}).encode(), status)

    def _send(self, body: bytes, status: int = 200, *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        try:
            self.wfile.write(body[: len(body) // 2] if cut else body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client has given up, as after the fault `slow`


def _whole(completion: Completion, *, has_logprobs: bool) -> dict[str, Any]:
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": completion.text or None},
        "finish_reason": completion.finish_reason,
    }
    if has_logprobs:
        choice["logprobs"] = {
            "content": [
                {**asdict(tokens[0]), "top_logprobs": [asdict(token) for token in tokens]}
                for tokens in completion.logprobs
            ]
        }
    usage = completion.usage
    return {
        "id": "chatcmpl-scripted", "object": "chat.completion", "created": 0,
        "model": completion.model, "choices": [choice],
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "total_tokens": usage.total,
        },
    }  # fmt: skip
