"""Office files: their zip packages opened safely, their properties, and those behind a password.

Limits hold before anything is unpacked, XML is read without entities, nothing is fetched.
"""

import io
import posixpath
import re
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.parsers.expat import ExpatError

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.registry import ParseHints, Parser, extra_version, require_extra
from rag_assets.parsing.sniffing import (
    PROTECTED_OFFICE_TYPE,
    ZIP_ERRORS,
    misnamed_warning,
    zip_office_type,
)

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
            "is missing here. Open it in its own program, save it again and replace it."
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
        "you trust it, open it in its own program and save it again.",
    )


def _too_large(what: str, inflated: int, packed: int) -> ParseFailure:
    if inflated > _HOSTILE_INFLATION * packed:
        return ParseFailure(
            "hostile_file",
            f"{what}, more than {_HOSTILE_INFLATION} times its packed size, as zip bombs do: find "
            "out where the file comes from; where you trust it, save it again in smaller parts.",
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
        f"The office file is damaged, {problem}. Open it in its own program, save it again and "
        "replace it.",
    )


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


def read_office_file(
    read: Callable[[OfficePackage], ParsedDocument], package: OfficePackage, hints: ParseHints
) -> ParsedDocument:
    """Return what `read` makes of a package, with warnings on what the file is in all.

    They name parts that the package lacks and a name of another format.

    Raises:
        ParseFailure: what `read` raises; `hostile_file` where elements lie too deep for it.
    """
    try:
        document = read(package)
    except RecursionError as error:
        raise ParseFailure(
            "hostile_file",
            "The file's elements lie hundreds of levels deep in each other, as no office program "
            "writes them: open it in its own program and save it again.",
        ) from error
    misnamed = misnamed_warning(hints.extension, document.media_type)
    return replace(document, warnings=(*document.warnings, *package.missing_warning(), *misnamed))


PARSER_VERSION = "1"

# Excel encrypts write-protected workbooks with it and opens them without asking (MS-OFFCRYPTO).
_EXCEL_DEFAULT_PASSWORD = "VelvetSweatshop"  # noqa: S105 - public knowledge, no secret
_ZIP_SIGNATURE = b"PK\x03\x04"


class ProtectedOfficeParser:
    """Reads encrypted docx, pptx and xlsx files with the password of their sidecar.

    Args:
        readers: parsers of the formats that may be inside.
    """

    name = "office_protected"
    media_types = (PROTECTED_OFFICE_TYPE,)
    reads_stem = False

    def __init__(self, readers: Sequence[Parser]) -> None:
        self._readers = {kind: reader for reader in readers for kind in reader.media_types}

    @cached_property
    def version(self) -> str:
        """Own version, that of the decryption, those of the readers inside."""
        inner = sorted({f"{reader.name}-{reader.version}" for reader in self._readers.values()})
        return "+".join(
            [PARSER_VERSION, f"msoffcrypto-tool-{extra_version('msoffcrypto-tool')}", *inner]
        )

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        """Return the document inside.

        Raises:
            ParseFailure: `password_required`, `password_wrong`, `damaged_file`,
                `unsupported_format`, and those of the inner format.
        """
        package = decrypt_package(data, hints.password)
        media_type = zip_office_type(package)
        if media_type not in self._readers:
            raise ParseFailure(
                "unsupported_format",
                f"The encrypted file holds {media_type or 'no office document'}; supported are "
                f"{', '.join(sorted(self._readers))}: convert the file.",
            )
        return self._readers[media_type].parse(package, hints, settings)


def decrypt_package(data: bytes, password: str | None) -> bytes:
    """Return the zip package inside an encrypted office file.

    Args:
        data: the OLE container.
        password: None or "" where there is none.

    Raises:
        ParseFailure: `password_required`, `password_wrong`, `damaged_file`.
    """
    package = _unlock(data, password) if password else None
    if package is not None:
        return package
    if password:
        raise ParseFailure(
            "password_wrong",
            "The password in the sidecar does not open the document: correct `password:` in "
            "<file>.meta.yaml.",
        )
    mend = "write `password: …` into its sidecar <file>.meta.yaml"
    if _unlock(data, _EXCEL_DEFAULT_PASSWORD) is not None:
        mend = (
            "it has Excel's own default password, which Excel does not ask for: write "
            f"`password: {_EXCEL_DEFAULT_PASSWORD}` into its sidecar <file>.meta.yaml"
        )
    raise ParseFailure("password_required", f"The document is protected by a password: {mend}.")


def _unlock(data: bytes, password: str) -> bytes | None:
    """Return the package, None where the password does not open it.

    The password's own check is not asked for: msoffcrypto 6.1 fails it for right passwords of
    some writers. What a wrong password makes is no zip file.

    Raises:
        ParseFailure: `damaged_file`, `missing_extra`.
    """
    require_extra("msoffcrypto", "office", "Office files with a password need msoffcrypto")
    import msoffcrypto
    from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError, ParseError

    package = io.BytesIO()
    try:
        container = msoffcrypto.OfficeFile(io.BytesIO(data))
        container.load_key(password=password)
        container.decrypt(package)
    except InvalidKeyError:
        return None
    except (
        FileFormatError, ParseError, DecryptionError, ExpatError, struct.error, OSError, ValueError,
        KeyError, IndexError, AttributeError, TypeError, OverflowError,
    ) as error:  # fmt: skip
        raise ParseFailure(
            "damaged_file",
            f"The encrypted office file is damaged ({error}): open it in its own program, save it "
            "again and replace it.",
        ) from error
    return package.getvalue() if package.getvalue().startswith(_ZIP_SIGNATURE) else None
