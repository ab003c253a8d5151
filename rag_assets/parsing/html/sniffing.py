"""Whether a text is an HTML page, by its first tags."""

import re

from rag_assets.parsing.plain.encoding_evidence import wide_encoding_of, without_padding

HTML_EXTENSIONS = frozenset({"html", "htm", "xhtml", "xht", "shtml"})

# The WHATWG MIME sniffing standard (§7.1) looks into 1,445 bytes; licences in a leading comment
# are longer, and UTF-32 needs four bytes a character.
_WINDOW = 16_384
_MARKS = (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe\x00\x00", "utf-32"), (b"\xff\xfe", "utf-16")
_BE_MARKS = (b"\x00\x00\xfe\xff", "utf-32"), (b"\xfe\xff", "utf-16")
_PREFIX = re.compile(r"(?:\s+|<\?xml[^>]*>|<!--.*?-->|\ufeff)*", re.DOTALL)
_PAGE = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_OTHER_DOCTYPE = re.compile(r"<!doctype\s+(?!html\b)", re.IGNORECASE)
_ELEMENT = (
    r"(?:html|head|body|title|meta|p|div|section|article|main|h[1-6]|ul|ol|li|dl|table|t[rhd]|pre|"
    r"blockquote|form|span|a|b|i|em|strong|br|hr|img|center|font)"
)
_FRAGMENT = re.compile(rf"<{_ELEMENT}\b[^<>]*>", re.IGNORECASE)
_CLOSING = re.compile(rf"</{_ELEMENT}\s*>", re.IGNORECASE)
# A fragment without <html> is a page where it begins with a tag and closes some.
_MIN_CLOSING_TAGS = 3


def is_html(data: bytes, *, is_named_html: bool) -> bool:
    """Tell whether a text file is an HTML page or a fragment of one.

    Args:
        data: the whole file.
        is_named_html: its name says so; then any HTML element will do.
    """
    head = _decode_head(data)
    start = _PREFIX.match(head)
    beginning = head[start.end() :] if start else head
    if _PAGE.match(beginning):
        return True
    if _OTHER_DOCTYPE.match(beginning):
        return False
    if is_named_html:
        return _FRAGMENT.search(head) is not None
    if _FRAGMENT.match(beginning) is None:
        return False
    return len(_CLOSING.findall(head)) >= _MIN_CLOSING_TAGS


def is_whole_page(data: bytes) -> bool:
    """Tell whether a text begins as a whole HTML page does."""
    head = _decode_head(data)
    start = _PREFIX.match(head)
    return _PAGE.match(head, start.end() if start else 0) is not None


def _decode_head(data: bytes) -> str:
    """Return the first characters; tags are ASCII in every encoding but UTF-16 and UTF-32."""
    trimmed, _ = without_padding(data)
    head = trimmed[:_WINDOW]
    for mark, encoding in (*_MARKS, *_BE_MARKS):
        if head.startswith(mark):
            return head.decode(encoding, "ignore")
    return head.decode(wide_encoding_of(head) or "latin-1", "ignore")
