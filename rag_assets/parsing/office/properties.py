"""What an office file says of itself: title, authors, dates."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.office.package import OfficePackage

if TYPE_CHECKING:
    from lxml.etree import _Element

_CORE = ("title", "creator", "subject", "keywords", "description", "category", "language",
         "lastModifiedBy", "created", "modified")  # fmt: skip
_EXTENDED = ("Application", "Company", "Manager")
_KEYS = {"creator": "author", "lastModifiedBy": "last_modified_by"}
# What programs write where nobody has written anything.
_PLACEHOLDER_TITLE = re.compile(
    r"microsoft (word|powerpoint|excel)\b.*|([^\W\d_]+[ -]){0,3}power\s?point([ -][^\W\d_]+)?"
    r"|(untitled|document|dokument|presentation|slide|folie|book|workbook|sheet)[ _-]?\d*"
    r"|word document|演示文稿\s?\d*|幻灯片\s?\d*|文档\s?\d*|ppt\s?模板.*"
    r"|.*\.(docx?|pptx?|xlsx?|tmp|rtf)",
    re.IGNORECASE,
)
_PLACEHOLDER_AUTHOR = re.compile(
    r"python-docx|python-pptx|openpyxl|apache poi|microsoft( office)? user|windows user|user"
    r"|admin(istrator)?|owner|author|unknown|steve canny|用户|微软用户|微软中国|作者",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Properties:
    """Document properties of an office file.

    Args:
        title: None where there is none, or a program's own.
        authors: names, in order; empty where there are none, or a program's own.
        metadata: all properties as plain strings.
    """

    title: str | None
    authors: tuple[str, ...]
    metadata: dict[str, str]


def read_properties(package: OfficePackage) -> Properties:
    """Return the core and extended properties of a package.

    Raises:
        ParseFailure: `damaged_file`, `hostile_file`: a part that holds them cannot be read.
    """
    metadata: dict[str, str] = {}
    for kind, names in (("core-properties", _CORE), ("extended-properties", _EXTENDED)):
        for part in package.related("", kind):
            metadata.update(_plain(package.tree(part), names))
    title = metadata.get("title", "")
    authors = [
        name
        for name in (part.strip() for part in metadata.get("author", "").split(";"))
        if name and not _PLACEHOLDER_AUTHOR.fullmatch(name)
    ]
    is_real = bool(title) and not _PLACEHOLDER_TITLE.fullmatch(title)
    return Properties(title if is_real else None, tuple(authors), metadata)


def _plain(root: "_Element", names: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for element in root:
        name = element.tag.rpartition("}")[2]
        value = clean_line(element.text or "")
        if name in names and value:
            found[_KEYS.get(name, name.casefold())] = value
    return found
