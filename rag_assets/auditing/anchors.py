"""Citation anchors: `{#doc_uid}`, `{#namespace:doc_uid}`, several between one pair of braces."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# Full-width braces and signs are what a Chinese input method types; they mean the same.
# The length is bounded so that an unclosed brace cannot swallow a chapter.
ANCHOR = r"[{｛][^\S\n]*[#＃][^{}｛｝]{0,400}[}｝]"
_ANCHOR = re.compile(ANCHOR)
_ITEM = re.compile(r"(?:(?!\s+[#＃])[^;,；，、])+")
_ATTRIBUTE = re.compile(r"(?:^|\s)(?:\.[^\W\d]|[\w-]+=)")


@dataclass(frozen=True, slots=True)
class Citation:
    """One cited document, where it stands in the draft.

    Args:
        namespace: as written before the colon, None where the draft leaves it open.
        doc_uid: as written, in NFKC; empty for `{#}`.
        start: offset of the anchor's item in the draft's text, in code points; `end` its end.
    """

    namespace: str | None
    doc_uid: str
    start: int
    end: int

    @property
    def label(self) -> str:
        """Return the citation as a person writes it between the braces, without `#`."""
        return f"{self.namespace}:{self.doc_uid}" if self.namespace else self.doc_uid


def find_anchors(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of every anchor in `text` whose brace no backslash escapes."""
    for match in _ANCHOR.finditer(text):
        slashes = 0
        while text[match.start() - slashes - 1 : match.start() - slashes] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            yield match.span()


def is_attribute_list(anchor: str) -> bool:
    """Say whether `anchor` is Markdown's `{#id .class key=value}` rather than a citation."""
    return _ATTRIBUTE.search(anchor[1:-1]) is not None


def read_anchor(anchor: str, offset: int) -> tuple[Citation, ...]:
    """Return the citations of one anchor; never empty.

    Whatever stands between the braces is taken as a uid, spaces included: a uid that does not
    exist becomes an error that the writer sees, where an anchor passed over would not be seen.

    Args:
        anchor: from brace to brace.
        offset: of the anchor in the draft's text, in code points.
    """
    citations = []
    for match in _ITEM.finditer(anchor, 1, len(anchor) - 1):
        written = match.group()
        item = written.strip().lstrip("#＃").strip()
        if not item:
            continue
        start = offset + match.start() + len(written) - len(written.lstrip())
        namespace, colon, doc_uid = unicodedata.normalize("NFKC", item).partition(":")
        citations.append(
            Citation(
                namespace.strip() if colon and namespace.strip() else None,
                doc_uid.strip() if colon else namespace,
                start,
                start + len(written.strip()),
            )
        )
    return tuple(citations) or (Citation(None, "", offset, offset + len(anchor)),)
