"""A person who edits and publishes, in a process of its own that is killed at a chosen point.

`python -m rag_assets_tests.e2e.drafting ROOT NAMESPACE UID POINT [publish|discard]`, with a point
of `building`: the first chunk's text is edited, then the draft is published. With an ending that is
done to a draft, as its command does: what is published is built.
"""

import sys
from pathlib import Path

from rag_assets.workspace import Workspace
from rag_assets_tests.e2e.building import Point, build_from_one_inventory, install
from rag_assets_tests.editing.drafting import open_editor


def main() -> None:
    root, name, uid, point, *endings = sys.argv[1:]
    install(Point(Path(root), "kill", point))
    namespace = Workspace.open(root).namespace(name)
    editor = open_editor(namespace, uid)
    if not endings:
        editor.edit_text(0, "Zebras keep cool.")
        editor.publish()
    for ending in endings:
        getattr(editor, ending)()
        if ending == "publish":
            build_from_one_inventory(namespace, lambda _: None)


if __name__ == "__main__":
    main()
