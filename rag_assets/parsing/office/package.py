"""Opens the zip packages of Word, PowerPoint and Excel safely: limits, XML without entities."""

import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote

from rag_assets.model import ParseFailure
from rag_assets.settings import ParseSettings

if TYPE_CHECKING:
    from lxml.etree import _Element

_BYTES_PER_MEGABYTE = 1_000_000
# A tree of lxml 6.1 takes 5 to 10 bytes a byte of WordprocessingML (measured), so that the
# largest part just fits into the default memory of a worker. A thesis has some 20 MB.
MAX_XML_PART_BYTES = 128_000_000
# Apache POI's ZipSecureFile refuses members that inflate to more than 100 times their size.
_HOSTILE_INFLATION = 100
# zipfile inflates without a bound where it is asked for everything at once.
_READ_BYTES = 1_000_000
# What zipfile and zlib raise for broken bytes: found by fuzzing.
ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, EOFError, struct.error, NotImplementedError, RuntimeError,
    OSError, ValueError, OverflowError, KeyError, IndexError,
)  # fmt: skip

# ISO 29500 strict has other namespaces for the same elements: read as the transitional ones.
_STRICT_NAMESPACE = re.compile(rb"(=\s*[\"'])http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_TRANSITIONAL_NAMESPACE = rb"\1http://schemas.openxmlformats.org/\2/2006/\3"
_RELATIONSHIP_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


@dataclass(frozen=True, slots=True)
class Relationship:
    """A reference from one part to another part or to the world.

    Args:
        kind: last word of its type: `styles`, `image`, `slide`, `hyperlink` …
        target: name of the part inside the package, or the address where `is_external`.
        is_external: True for what lies outside the package; it is never fetched.
    """

    kind: str
    target: str
    is_external: bool


class OfficePackage:
    """The parts of an office file. Nothing is ever written to disk or fetched.

    Args:
        data: the zip file's bytes.
        settings: all members together may inflate to `max_megabytes`.

    Raises:
        ParseFailure: `damaged_file`, `hostile_file`, `size_limit`.
    """

    def __init__(self, data: bytes, settings: ParseSettings) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            members = self._archive.infolist()
        except ZIP_ERRORS as error:
            raise _damaged(f"it is no whole zip package: {error}") from error
        # Names are compared without case and with either slash (ECMA-376 part 2, 6.2.2).
        self._members = {part_name(member.filename).casefold(): member for member in members}
        self._trees: dict[str, _Element] = {}
        self._missing: dict[str, None] = {}
        inflated = sum(member.file_size for member in members)
        if inflated > settings.max_megabytes * _BYTES_PER_MEGABYTE:
            packed = sum(member.compress_size for member in members)
            raise _too_large(f"The package inflates to {_megabytes(inflated)}", inflated, packed)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all members, in the order of the package."""
        return tuple(part_name(member.filename) for member in self._members.values())

    def __contains__(self, name: str) -> bool:
        return part_name(name).casefold() in self._members

    def read(self, name: str) -> bytes:
        """Return the bytes of a member.

        Raises:
            ParseFailure: `damaged_file`, also where there is no such member.
        """
        return b"".join(self.pieces(name))

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a member piece by piece, so that a large part is never held whole.

        Raises:
            ParseFailure: `damaged_file`, also where there is no such member.
        """
        member = self._members.get(part_name(name).casefold())
        if member is None:
            raise _damaged(f"its part {name} is missing")
        try:
            with self._archive.open(member) as stream:
                while piece := stream.read(_READ_BYTES):
                    yield piece
        except ZIP_ERRORS as error:
            raise _damaged(f"its part {name} cannot be unpacked: {error}") from error

    def tree(self, name: str) -> "_Element":
        """Return the root element of an XML part, in transitional namespaces; parsed once.

        Raises:
            ParseFailure: `damaged_file`, `size_limit`, `hostile_file` (it declares a document
                type, which no office program writes and Word refuses).
        """
        key = part_name(name).casefold()
        if key not in self._trees:
            member = self._members.get(key)
            if member is not None and member.file_size > MAX_XML_PART_BYTES:
                what = f"Its part {name} inflates to {_megabytes(member.file_size)}"
                raise _too_large(what, member.file_size, member.compress_size)
            self._trees[key] = parse_xml(self.read(name), name)
        return self._trees[key]

    def relationships(self, name: str) -> Mapping[str, Relationship]:
        """Return the references of a part by their id; "" is the package itself.

        Raises:
            ParseFailure: as `tree`.
        """
        folder, base = posixpath.split(part_name(name))
        listing = posixpath.join(folder, "_rels", f"{base}.rels")
        if listing not in self:
            return {}
        found = {}
        for element in self.tree(listing):
            target = element.get("Target", "")
            is_external = element.get("TargetMode", "").lower() == "external"
            if not is_external:
                path = unquote(target.split("#")[0])
                target = part_name(path if path.startswith("/") else posixpath.join(folder, path))
            kind = element.get("Type", "").rpartition("/")[2]
            found[element.get("Id", "")] = Relationship(kind, target, is_external)
        return found

    def related(self, name: str, kind: str) -> tuple[str, ...]:
        """Return the parts that `name` refers to as `kind` and that are in the package.

        Those that are not are remembered for `missing_warning`.
        """
        targets = [
            relationship.target
            for relationship in self.relationships(name).values()
            if relationship.kind == kind and not relationship.is_external
        ]
        # What the package itself names besides the document are properties, no text.
        if name:
            self._missing.update((target, None) for target in targets if target not in self)
        return tuple(target for target in targets if target in self)

    def missing_warning(self) -> tuple[str, ...]:
        """Return a warning that names the parts looked for in vain so far, none without."""
        if not self._missing:
            return ()
        warning = (
            f"The file lacks parts that it names ({', '.join(self._missing)}): what stood in them "
            "is missing here. Open it in its own program, save it anew and replace it."
        )
        return (warning,)

    def main_part(self, usual: str) -> str:
        """Return the name of the part that holds the document.

        Args:
            usual: its usual name, taken where the package does not say.

        Raises:
            ParseFailure: `damaged_file`.
        """
        named = self.related("", "officeDocument")
        if named or usual in self:
            return named[0] if named else usual
        raise _damaged(f"it has no part {usual}")

    def media_type(self, name: str) -> str | None:
        """Return the content type of a part, None where the package does not say."""
        types = self._content_types
        extension = name.rpartition(".")[2].casefold()
        return types.get(f"/{part_name(name)}".casefold()) or types.get(extension)

    @cached_property
    def _content_types(self) -> dict[str, str]:
        listing = "[Content_Types].xml"
        if listing not in self:
            return {}
        return {
            (element.get("PartName") or element.get("Extension", "")).casefold(): element.get(
                "ContentType", ""
            )
            for element in self.tree(listing)
        }


def relationship_id(element: "_Element", name: str = "id") -> str | None:
    """Return the id of the relationship that an element's attribute `r:<name>` names."""
    found = element.get(_RELATIONSHIP_ID + name)
    return None if found is None else str(found)


def part_name(name: str) -> str:
    """Return the name of a member with slashes, without a leading one and without `..`."""
    return posixpath.normpath("/" + name.replace("\\", "/")).lstrip("/")


def parse_xml(data: bytes, name: str) -> "_Element":
    """Return the root element of an XML part. Entities are never resolved, nothing is fetched.

    Args:
        data: the part's bytes.
        name: of the part, for messages.

    Raises:
        ParseFailure: `damaged_file`, `hostile_file` where a document type is declared.
    """
    from lxml import etree

    if b"<!DOCTYPE" in data:
        raise _declares_entities(name)
    data = _STRICT_NAMESPACE.sub(_TRANSITIONAL_NAMESPACE, data)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise _damaged(f"its part {name} is no valid XML: {error}") from error
    # In UTF-16 the bytes do not show it.
    if root.getroottree().docinfo.doctype:
        raise _declares_entities(name)
    return root


def _declares_entities(name: str) -> ParseFailure:
    return ParseFailure(
        "hostile_file",
        f"The part {name} declares a document type, as entity bombs and files that reach for "
        "other files do and no office program writes: find out where the file comes from; where "
        "you trust it, open it in its own program and save it anew.",
    )


def _too_large(what: str, inflated: int, packed: int) -> ParseFailure:
    if inflated > _HOSTILE_INFLATION * packed:
        return ParseFailure(
            "hostile_file",
            f"{what}, more than {_HOSTILE_INFLATION} times its packed size, as zip bombs do: find "
            "out where the file comes from; where you trust it, save it anew in smaller parts.",
        )
    return ParseFailure(
        "size_limit",
        f"{what}; parse.max_megabytes bounds a package and {_megabytes(MAX_XML_PART_BYTES)} each "
        "of its XML parts: split the document, then build again.",
    )


def _megabytes(size: int) -> str:
    return f"{size / _BYTES_PER_MEGABYTE:.0f} MB"


def _damaged(problem: str) -> ParseFailure:
    return ParseFailure(
        "damaged_file",
        f"The office file is damaged, {problem}. Open it in its own program, save it anew and "
        "replace it.",
    )
