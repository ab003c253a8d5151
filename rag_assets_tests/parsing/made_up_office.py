"""Word documents and presentations of a few lines, written as the packages that they are."""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence

from rag_assets.model import ParsedDocument
from rag_assets.parsing import ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings

RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{address}"'
    for prefix, address in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "r": RELATIONSHIPS,
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "v": "urn:schemas-microsoft-com:vml",
    }.items()
)
EXTERNAL = ' TargetMode="External"'
WORD_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
SLIDES_MAIN = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"


def make_png(width: int = 2, height: int = 2) -> bytes:
    """Return a grey picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + checksum

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\x00".join([b""] + [b"\x80" * width] * height))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


def xml_part(name: str, content: str) -> str:
    """Return a part whose root is `name`."""
    return f'<?xml version="1.0" encoding="UTF-8"?><{name} {NAMESPACES}>{content}</{name}>'


def make_relationships(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return a listing of relationships: id to (kind, target)."""
    lines = "".join(
        f'<Relationship Id="{key}" Type="{RELATIONSHIPS}/{kind}" Target="{target}"'
        f"{EXTERNAL if '://' in target else ''}/>"
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{PACKAGE_RELATIONSHIPS}">{lines}</Relationships>'


def make_package(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip file with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def make_content_types(main: str, kind: str) -> str:
    return (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="png" ContentType="image/png"/>'
        f'<Override PartName="/{main}" ContentType="{kind}"/></Types>'
    )


def make_docx(
    body: str,
    parts: Mapping[str, str | bytes] | None = None,
    targets: Mapping[str, tuple[str, str]] | None = None,
    main_type: str = WORD_MAIN,
) -> bytes:
    """Return a Word document.

    Args:
        body: content of `w:body`.
        parts: further members; `styles`, `numbering`, `footnotes`, `endnotes`, `comments` may be
            given by that word alone, as the content of their root.
        targets: relationships of the document besides theirs.
    """
    known = dict(targets or {})
    members: dict[str, str | bytes] = {}
    for name, content in (parts or {}).items():
        if "/" in name or isinstance(content, bytes):
            members[name] = content
        else:
            members[f"word/{name}.xml"] = xml_part(f"w:{name}", content)
            known[name] = (name, f"{name}.xml")
    return make_package(
        {
            "[Content_Types].xml": make_content_types("word/document.xml", main_type),
            "_rels/.rels": make_relationships(
                {
                    "main": ("officeDocument", "word/document.xml"),
                    "core": ("metadata/core-properties", "docProps/core.xml"),
                }
            ),
            "word/document.xml": xml_part("w:document", f"<w:body>{body}</w:body>"),
            "word/_rels/document.xml.rels": make_relationships(known),
            **members,
        }
    )


def word_paragraph(text: str, style: str = "", properties: str = "") -> str:
    """Return a paragraph of one run."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return (
        f"<w:p><w:pPr>{named}{properties}</w:pPr>"
        f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'
    )


def word_style(style_id: str, name: str, properties: str = "", based_on: str = "") -> str:
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{style_id}"><w:name w:val="{name}"/>{base}'
        f"<w:pPr>{properties}</w:pPr></w:style>"
    )


def in_paragraph(*content: str) -> str:
    """Return a paragraph of runs and what else stands among them."""
    return f"<w:p>{''.join(content)}</w:p>"


def word_run(content: str, properties: str = "") -> str:
    """Return a run of elements."""
    return f"<w:r><w:rPr>{properties}</w:rPr>{content}</w:r>"


def word_text(text: str, properties: str = "") -> str:
    """Return a run of text."""
    return word_run(f'<w:t xml:space="preserve">{text}</w:t>', properties)


def word_cell(*texts: str, properties: str = "") -> str:
    content = "".join(map(word_paragraph, texts)) or "<w:p/>"
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def word_row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def word_table(*rows: str) -> str:
    return f"<w:tbl><w:tblPr/>{''.join(rows)}</w:tbl>"


def make_pptx(
    slides: Sequence[str],
    parts: Mapping[str, str | bytes] | None = None,
    targets: Mapping[int, Mapping[str, tuple[str, str]]] | None = None,
) -> bytes:
    """Return a presentation.

    Args:
        slides: content of each slide's `p:spTree`.
        parts: further members.
        targets: relationships of slides, by their number from 1.
    """
    members: dict[str, str | bytes] = {}
    ids = []
    for number, shapes in enumerate(slides, 1):
        tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
        members[f"ppt/slides/slide{number}.xml"] = xml_part("p:sld", tree)
        members[f"ppt/slides/_rels/slide{number}.xml.rels"] = make_relationships(
            (targets or {}).get(number, {})
        )
        ids.append(f'<p:sldId id="{255 + number}" r:id="s{number}"/>')
    listing = {
        f"s{number + 1}": ("slide", f"slides/slide{number + 1}.xml")
        for number in range(len(slides))
    }
    return make_package(
        {
            "[Content_Types].xml": make_content_types("ppt/presentation.xml", SLIDES_MAIN),
            "_rels/.rels": make_relationships({"main": ("officeDocument", "ppt/presentation.xml")}),
            "ppt/presentation.xml": xml_part(
                "p:presentation", f"<p:sldIdLst>{''.join(ids)}</p:sldIdLst>"
            ),
            "ppt/_rels/presentation.xml.rels": make_relationships(listing),
            **members,
            **(parts or {}),
        }
    )


def slide_shape(
    text: str, place: str = "", at: tuple[int, int, int, int] | None = None, kind: str = "sp"
) -> str:
    """Return a shape with a paragraph a line.

    Args:
        place: type of placeholder, "" for a free shape.
        at: left, top, width and height in points.
    """
    filled = f'<p:ph type="{place}"/>' if place else ""
    box = ""
    if at is not None:
        x, y, width, height = (12_700 * value for value in at)
        box = f'<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return (
        f'<p:{kind}><p:nvSpPr><p:cNvPr id="2" name="Shape"/><p:cNvSpPr/><p:nvPr>{filled}</p:nvPr>'
        f"</p:nvSpPr><p:spPr>{box}</p:spPr><p:txBody><a:bodyPr/>{lines}</p:txBody></p:{kind}>"
    )


def read(data: bytes, **changes: object) -> ParsedDocument:
    """Return the document in `data`, sniffed and parsed, without a telling name."""
    return parse_document(data, ParseHints(), make_settings(**changes))


def blocks_of(document: ParsedDocument) -> list[tuple[str, str]]:
    """Return kind and text of every block."""
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def word_text_of(body: str, **parts: str) -> str:
    """Return the clean text of a Word document with this body."""
    return read(make_docx(body, parts)).text
