"""`rag ui` says that it serves when it does, and watches only where it was asked to."""

import socket

import dagster as dg
import pytest

from rag_assets.defs.sensors.attempts import default_status
from rag_assets.running import serving


def test_a_port_answers_when_somebody_listens() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        assert not serving._answers(port)
        server.listen()
        assert serving._answers(port)


def test_sensors_wait_where_the_ui_was_not_asked_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_SENSORS", "off")
    assert default_status() is dg.DefaultSensorStatus.STOPPED
    monkeypatch.delenv("RAG_SENSORS")
    assert default_status() is dg.DefaultSensorStatus.RUNNING
