"""A small published workspace with a draft to review."""

from datetime import UTC, date, datetime
from pathlib import Path

from rag_assets.auditing.reviewing import Review, Reviews
from rag_assets.retrieval import OpenedLibrary
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace

SETTINGS = {"embed": {"kind": "hashing", "model": "words"}, "verify": {"scorer": "similarity"}}
ROOFS = "# Roofs\n\nCool roofs reflect sunlight and stay cooler than dark ones.\n"
LEAF = (
    "# Leaves\n\nStomata close when the air around a leaf is dry.\n\n"
    "## Salt\n\nBridges rust where salt lies in the air, in summer and in winter.\n"
)
DRAFT = (
    "# Draft\n\nCool roofs reflect sunlight and stay cooler than dark ones {#roofs}.\n\n"
    "Stomata close when the air around a leaf is dry {#leaf}. "
    "Nobody paints trains on Sundays {#leaf}.\n\n"
    "Taxes fell {#nowhere}.\n\n## References\n\n- {#roofs}\n- {#moss}\n"
)
MOSS = "# Moss\n\nMoss grows on stones in the shade.\n"
AT = datetime(2026, 3, 1, 10, tzinfo=UTC)
DAY = date(2026, 3, 1)
NAME = "chapter.md"


def draft_workspace(root: Path, text: str = DRAFT) -> Workspace:
    """Return a published workspace with `text` as its draft."""
    files = {"evidence/roofs.md": ROOFS, "evidence/leaf.md": LEAF, "evidence/moss.md": MOSS}
    workspace = make_workspace(root, files, SETTINGS)
    build(workspace.namespace("thesis"))
    workspace.drafts.mkdir(exist_ok=True)
    (workspace.drafts / NAME).write_text(text, encoding="utf-8")
    return workspace


def checked(workspace: Workspace) -> tuple[Reviews, OpenedLibrary, Review]:
    """Return the reviews of a workspace, its library, and its draft's review."""
    reviews, library = Reviews(workspace), OpenedLibrary(workspace)
    return reviews, library, reviews.check(library, NAME, as_of=DAY)
