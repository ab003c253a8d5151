"""The desk in a headless Chromium: open it, press keys, look for what hinders people."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from rag_assets.workspace import Workspace
from rag_assets_tests.desk.served import Served, serve_desk
from rag_assets_tests.e2e.browsing import CHROMIUM, NO_CHROMIUM, SEE_MILLISECONDS, browse

in_browser = [pytest.mark.ui, pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)]
"""The marks of a module with browser tests: `pytestmark = in_browser`."""
expect.set_options(timeout=SEE_MILLISECONDS)


@contextmanager
def open_desk(workspace: Workspace, path: str = "/") -> Iterator[tuple[Page, Served]]:
    """Serve a desk and open one of its pages; fails where a page's script or policy complains."""
    with serve_desk(workspace) as served, browse() as page:
        said: list[str] = []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
        page.goto(served.opened_at(path))
        yield page, served
        # What a page was refused, and a connection that a test cut, the browser logs as well.
        expected = ("status of 4", "net::ERR")
        assert [line for line in said if not any(part in line for part in expected)] == []


def another_window(page: Page, *, has_script: bool = True) -> Page:
    """Return a window of the same browser that shares nothing with the first, its cookie included.

    Args:
        has_script: False for a browser that runs no JavaScript.
    """
    browser = page.context.browser
    assert browser is not None
    return browser.new_context(java_script_enabled=has_script).new_page()


def hindrances(page: Page) -> list[str]:
    """Return what axe finds against the rules of WCAG 2.1 A and AA, a line each."""
    # The rules are run by the page's own policy: handed to the browser, not loaded by the page.
    found: dict[str, Any] = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa"]})
    return [
        f"{violation['id']}: {violation['help']} at {node['target']}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]
