"""Pages that were drawn last, kept for the request that loads what another one has measured."""

import threading
from collections import OrderedDict

from rag_assets.evidence.pictures import Drawing, WholePage, whole_page
from rag_assets.workspace import Workspace

_MOST_KEPT = 32


class DrawnPages:
    """The pages that were drawn last; a page is drawn once though it is shown and then loaded."""

    def __init__(self, workspace: Workspace) -> None:
        self._drawing = Drawing(workspace)
        self._kept: OrderedDict[tuple[str, str, int], WholePage] = OrderedDict()
        self._lock = threading.Lock()

    def draw(self, namespace: str, content_hash: str, number: int) -> WholePage | str:
        """Return a page, or a sentence that says why there is no picture of it.

        Args:
            content_hash: SHA-256 of the document's bytes.
            number: of the page, from 1.
        """
        key = (namespace, content_hash, number)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            drawn = whole_page(self._drawing.draw(namespace, content_hash, number))
            if isinstance(drawn, WholePage):
                self._kept[key] = drawn
                if len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
            return drawn

    def close(self) -> None:
        """End the process that draws."""
        with self._lock:
            self._drawing.close()
