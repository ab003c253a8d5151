"""A loopback server that speaks MinerU's protocol, with faults to order."""

import io
import json
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pymupdf

KEY = "secret-key"


@dataclass
class FakeMineru:
    """What the server knows, does and has seen.

    Args:
        faults: (method, first part of the path) → answers to give before the right one: an HTTP
            status, or `truncated` for a download that stops half-way.
        polls_until_done: how often a batch is asked for before its files are done.
        failing: data ids' last digits → message of the service.
    """

    url: str = ""
    faults: dict[tuple[str, str], list[int | str]] = field(default_factory=dict)
    polls_until_done: int = 1
    failing: dict[str, str] = field(default_factory=dict)
    batches: dict[str, list[str]] = field(default_factory=dict)
    uploads: dict[str, bytes] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    polls: Counter[str] = field(default_factory=Counter)
    upload_headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def serve_mineru() -> Iterator[FakeMineru]:
    """Yield a running server's state; it ends with the block."""
    state = FakeMineru()
    handler = type("Handler", (_Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: FakeMineru

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Keep the test's output clean."""

    def do_POST(self) -> None:
        body = json.loads(self._body())
        if self._fault("POST", "file-urls") or not self._authorised():
            return
        batch = f"batch-{len(self.state.batches) + 1}"
        self.state.batches[batch] = [entry["data_id"] for entry in body["files"]]
        urls = [f"{self.state.url}/upload/{entry['data_id']}" for entry in body["files"]]
        self._answer({"batch_id": batch, "file_urls": urls})

    def do_PUT(self) -> None:
        data = self._body()
        if self._fault("PUT", "upload"):
            return
        self.state.upload_headers.append(dict(self.headers))
        self.state.uploads[self.path.rsplit("/", 1)[1]] = data
        self._send(200, b"")

    def do_GET(self) -> None:
        if self.path.startswith("/zip/"):
            self._download(self.path.rsplit("/", 1)[1])
            return
        if self._fault("GET", "extract-results") or not self._authorised():
            return
        batch = self.path.rsplit("/", 1)[1]
        self.state.polls[batch] += 1
        is_done = self.state.polls[batch] >= self.state.polls_until_done
        self._answer(
            {
                "batch_id": batch,
                "extract_result": [
                    self._result(data_id, is_done) for data_id in self.state.batches[batch]
                ],
            }
        )

    def _result(self, data_id: str, is_done: bool) -> dict[str, str]:
        message = self.state.failing.get(data_id[-3:])
        if is_done and message:
            return {"data_id": data_id, "state": "failed", "err_msg": message}
        if is_done and data_id in self.state.uploads:
            url = f"{self.state.url}/zip/{data_id}"
            return {"data_id": data_id, "state": "done", "full_zip_url": url}
        return {"data_id": data_id, "state": "running"}

    def _download(self, data_id: str) -> None:
        faults = self.state.faults.get(("GET", "zip"), [])
        answer = make_answer(self.state.uploads[data_id])
        if faults and faults[0] == "truncated":
            self.state.calls["GET zip"] += 1
            faults.pop(0)
            self._send(200, answer[: len(answer) // 2])
        elif not self._fault("GET", "zip"):
            self._send(200, answer)

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _authorised(self) -> bool:
        if self.headers.get("Authorization") == f"Bearer {KEY}":
            return True
        self._send(401, b"{}")
        return False

    def _fault(self, method: str, part: str) -> bool:
        self.state.calls[f"{method} {part}"] += 1
        faults = self.state.faults.get((method, part), [])
        if faults:
            self._send(int(faults.pop(0)), b"{}")
            return True
        return False

    def _answer(self, data: object) -> None:
        self._send(200, json.dumps({"code": 0, "msg": "ok", "data": data}).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def make_answer(pdf: bytes) -> bytes:
    """Return the zip for a PDF: a heading and a paragraph a page, a table, an image."""
    items: list[dict[str, Any]] = []
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        sizes = [[page.rect.width, page.rect.height] for page in document]
        for index, page in enumerate(document):
            words = " ".join(page.get_text().split())
            items += [
                {"type": "header", "text": "Journal of Tests", "page_idx": index},
                {"type": "text", "text": f"Part {words}", "text_level": 1, "page_idx": index},
                {"type": "text", "text": f"Text of {words}.", "page_idx": index,
                 "bbox": [100, 200, 900, 300]},
            ]  # fmt: skip
    items += [
        {"type": "table", "table_caption": ["Table 1: Sizes"], "page_idx": 0,
         "table_body": "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"},
        {"type": "image", "img_path": "images/x.png", "image_caption": ["Figure 1: A dot."],
         "page_idx": 0},
        {"type": "equation", "text": "$$E = mc^2$$", "page_idx": 0},
    ]  # fmt: skip
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("full.md", "not read")
        archive.writestr("x_content_list.json", json.dumps(items))
        archive.writestr("layout.json", json.dumps({"pdf_info": [{"page_size": s} for s in sizes]}))
        archive.writestr("images/x.png", b"\x89PNG not really")
        archive.writestr("../../escape.txt", b"never unpacked")
    return target.getvalue()
