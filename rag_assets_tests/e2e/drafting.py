"""A person who edits and publishes, in a process of its own that is killed at a chosen point.

`python -m rag_assets_tests.e2e.drafting ROOT NAMESPACE UID POINT`, with a point of `building`: the
first chunk's text is edited, then the draft is published.
"""

import sys
from pathlib import Path

from rag_assets.workspace import Workspace
from rag_assets_tests.e2e.building import Point, install
from rag_assets_tests.editing.drafting import open_editor


def main() -> None:
    root, name, uid, point = sys.argv[1:]
    install(Point(Path(root), "kill", point))
    editor = open_editor(Workspace.open(root).namespace(name), uid)
    editor.edit_text(0, "Zebras keep cool.")
    editor.publish()


if __name__ == "__main__":
    main()
