"""The scripted model behind HTTP on this machine: chat completions, streams, faults to order."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any  # Any: JSON of the protocol

from rag_assets.llm.contract import Completion, stream_whole
from rag_assets.llm.scripted import Fault, Script, find_answer, make_completion
from rag_assets.llm.wire import call_to_wire, logprobs_to_wire, message_from_wire

_POLL_SECONDS = 0.01


@dataclass
class ScriptedServer:
    """A running server: where it is and what it has seen.

    Args:
        base_url: for `llm.base_url`; ends in `/v1`.
        requests: the bodies of all calls, in order of arrival.
        authorizations: the header of each.
    """

    script: Script
    api_key: str | None
    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    _asked: Counter[int] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next_fault(self, number: int, faults: list[Fault]) -> Fault | None:
        """Return what goes wrong at this call of an answer, None where nothing does."""
        with self._lock:
            turn = self._asked[number]
            self._asked[number] += 1
        return faults[turn] if turn < len(faults) else None


@contextmanager
def serve_script(
    script: Script, *, api_key: str | None = None, port: int = 0
) -> Iterator[ScriptedServer]:
    """Serve a script on 127.0.0.1 until the block ends.

    Args:
        api_key: refuse calls without it (HTTP 401); None takes every call.
        port: 0 for any free one.
    """
    state = ScriptedServer(script, api_key)
    handler = type("Handler", (_Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
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

    def do_GET(self) -> None:
        """Answer `/v1/models`."""
        if self.path.rstrip("/") != "/v1/models":
            self._fail(404, f"no page {self.path}")
            return
        models = [{"id": self.state.script.model, "object": "model", "owned_by": "rag-assets"}]
        self._send(json.dumps({"object": "list", "data": models}).encode())

    def do_POST(self) -> None:
        """Answer `/v1/chat/completions`."""
        body: Any = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        if self.path.rstrip("/") != "/v1/chat/completions":
            self._fail(404, f"no page {self.path}")
            return
        state, script = self.state, self.state.script
        state.requests.append(body)
        state.authorizations.append(self.headers.get("Authorization", ""))
        if state.api_key is not None and state.authorizations[-1] != f"Bearer {state.api_key}":
            self._fail(401, f"wrong key: {state.authorizations[-1]}")
            return
        if body.get("model") != script.model:
            self._fail(404, f"the model '{body.get('model')}' does not exist")
            return
        messages = tuple(message_from_wire(message) for message in body["messages"])
        found = find_answer(script, messages)
        if found is None:
            self._fail(400, f"the script has no answer to {messages[-1].content!r}")
            return
        fault = state.next_fault(id(found), found.faults)
        if isinstance(fault, int):
            self._fail(fault, "a fault of the script")
            return
        if fault == "slow":
            state.ended.wait(script.slow_seconds)
        completion = make_completion(script, found, messages)
        if not body.get("logprobs"):
            completion = replace(completion, logprobs=())
        if body.get("stream"):
            self._stream(completion, fault)
        elif fault == "not_json":
            self._send(b"<html>Bad gateway</html>")
        else:
            self._send(json.dumps(_whole(completion)).encode(), cut=fault == "truncated")

    def _stream(self, completion: Completion, fault: Fault | None) -> None:
        events = [json.dumps(event) for event in _events(completion)]
        if fault == "truncated":
            events = events[: len(events) // 2]
        elif fault == "not_json":
            events = ["<html>Bad gateway</html>"]
        else:
            events.append("[DONE]")
        # HTTP/1.0 as the base class speaks it: the end of the connection ends the answer.
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(f"data: {event}\n\n".encode())
            self.wfile.flush()

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


def _head(completion: Completion, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": completion.model}


def _usage(completion: Completion) -> dict[str, int]:
    usage = completion.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total,
    }


def _whole(completion: Completion) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": completion.text or None}
    if completion.tool_calls:
        message["tool_calls"] = [call_to_wire(call) for call in completion.tool_calls]
    choice: dict[str, Any] = {
        "index": 0, "message": message, "finish_reason": completion.finish_reason,
    }  # fmt: skip
    if completion.logprobs:
        choice["logprobs"] = {"content": logprobs_to_wire(completion.logprobs)}
    return {
        **_head(completion, "chat.completion"),
        "choices": [choice],
        "usage": _usage(completion),
    }


def _events(completion: Completion) -> Iterator[dict[str, Any]]:
    head = _head(completion, "chat.completion.chunk")

    def event(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield event({"role": "assistant", "content": ""})
    for piece in stream_whole(completion):
        if piece.text:
            yield event({"content": piece.text})
    for number, call in enumerate(completion.tool_calls):
        wire = call_to_wire(call)
        half = len(call.arguments) // 2
        first = {**wire, "function": {"name": call.name, "arguments": call.arguments[:half]}}
        yield event({"tool_calls": [{"index": number, **first}]})
        rest = {"index": number, "function": {"arguments": call.arguments[half:]}}
        yield event({"tool_calls": [rest]})
    yield event({}, completion.finish_reason)
    yield {**head, "choices": [], "usage": _usage(completion)}
