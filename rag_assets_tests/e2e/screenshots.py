"""Make the pictures of docs/images/ anew: `python -m rag_assets_tests.e2e.screenshots`.

The workspace is made of samples/ and two files that cannot be read.
"""

import hashlib
import re
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from rag_assets.running import STAGES, materialize_stages
from rag_assets.workspace import Namespace
from rag_assets_tests.e2e.browsing import SEE_MILLISECONDS, Server, browse, serve
from rag_assets_tests.libraries import make_workspace

REPOSITORY = Path(__file__).parents[2]
IMAGES = REPOSITORY / "docs/images"
BROKEN = b"%PDF-1.7 and nothing of a PDF after it"


def main() -> None:
    """Build, serve, look, save."""
    raw = REPOSITORY / "samples/raw"
    files: dict[str, str | bytes] = {
        path.relative_to(raw).as_posix(): path.read_bytes()
        for path in raw.rglob("*")
        if path.is_file()
    }
    files |= {"evidence/broken-scan.pdf": BROKEN, "evidence/empty-notes.md": b""}
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "demo"
        namespace = make_workspace(root, files).namespace("thesis")
        outcome = materialize_stages(namespace, STAGES)
        assert outcome.is_published, outcome.errors
        with serve(root, root / "ui.log") as server, browse() as page:
            take_pictures(page, server, namespace, files)


def take_pictures(
    page: Page, server: Server, namespace: Namespace, files: dict[str, str | bytes]
) -> None:
    """Save the four pictures."""

    def open_reports(name: str) -> None:
        data = files[name]
        assert isinstance(data, bytes)
        partition = namespace.partition_of(hashlib.sha256(data).hexdigest())
        page.goto(f"{server.url}/assets/thesis/parse_reports?view=partitions&partition={partition}")
        page.get_by_role("cell", name=f"raw/{name}", exact=True).wait_for()
        page.get_by_text("16 Partitions Selected").wait_for()

    open_reports("evidence/行道树与夏季热环境-2022.pdf")
    page.get_by_text("preview", exact=True).wait_for()
    page.screenshot(path=IMAGES / "partition-metadata.png")

    open_reports("evidence/broken-scan.pdf")
    page.screenshot(path=IMAGES / "failed-document.png")

    page.goto(f"{server.url}/assets/thesis/parse_reports?view=checks")
    page.get_by_text(re.compile("broken-scan.pdf: failed")).wait_for()
    page.screenshot(path=IMAGES / "checks.png")

    # The nodes show what they hold only where the page is wide enough for all seven.
    page.set_viewport_size({"width": 2600, "height": 640})
    page.goto(f"{server.url}/locations/rag_assets/asset-groups/thesis/lineage")
    page.get_by_text("Hide navigation").click()
    page.get_by_text("search_index", exact=True).first.wait_for()
    expect(page.get_by_text("Loading", exact=False)).to_have_count(0, timeout=SEE_MILLISECONDS)
    page.screenshot(
        path=IMAGES / "asset-graph.png", clip={"x": 110, "y": 260, "width": 2380, "height": 280}
    )


if __name__ == "__main__":
    main()
