"""Workbooks for tests, made by hand, so that each part is what the test says and nothing else."""

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
STYLES = ("General", "0.0%", "yyyy-mm-dd", "0.00", "yyyy-mm-dd h:mm", '0.0" kg"', "[h]:mm:ss")


def letters(column: int) -> str:
    return (letters(column // 26 - 1) if column >= 26 else "") + chr(65 + column % 26)


def cell(reference: str, value: Any) -> str:
    """A cell: a text, a number, a bool, (number, index of STYLES), or XML of its own."""
    if isinstance(value, str) and value.startswith("<c"):
        return value.replace("<c", f'<c r="{reference}"', 1)
    if isinstance(value, bool):
        return f'<c r="{reference}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, tuple):
        return f'<c r="{reference}" s="{value[1]}"><v>{value[0]!r}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{reference}"><v>{value!r}</v></c>'
    return f'<c r="{reference}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def sheet_xml(rows: Sequence[Sequence[Any]], tail: str = "") -> str:
    """A sheet; None is an empty cell, an empty row is left out as programs do."""
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = [
            cell(f"{letters(column)}{number}", value)
            for column, value in enumerate(row)
            if value is not None
        ]
        if cells:
            lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    return (
        f'<?xml version="1.0"?><worksheet xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheetData>'
        f"{''.join(lines)}</sheetData>{tail}</worksheet>"
    )


def relations_xml(*targets: tuple[str, str, str]) -> str:
    """A list of (id, kind, target)."""
    inner = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for name, kind, target in targets
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{inner}</Relationships>'


def make_xlsx(
    sheets: Mapping[str, str],
    *,
    states: Mapping[str, str] | None = None,
    strings: str | None = None,
    properties: str = "",
    extra: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """A workbook of sheets by name, their XML as given; `extra` are further parts."""
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{number}" r:id="s{number}"'
        f' state="{(states or {}).get(name, "visible")}"/>'
        for number, name in enumerate(sheets, start=1)
    )
    targets = [
        (f"s{number}", "worksheet", f"worksheets/sheet{number}.xml")
        for number in range(1, len(sheets) + 1)
    ]
    formats = "".join(
        f'<numFmt numFmtId="{200 + index}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
        for index, code in enumerate(STYLES)
    )
    used = "".join(f'<xf numFmtId="{200 + index}"/>' for index in range(len(STYLES)))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="png" ContentType="image/png"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{CONTENT_TYPE}"/></Types>',
        "_rels/.rels": relations_xml(("w", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}">'
        f"<workbookPr {properties}/><sheets>{listed}</sheets></workbook>",
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><numFmts>{formats}</numFmts>'
        f"<cellXfs>{used}</cellXfs></styleSheet>",
    }
    targets.append(("st", "styles", "styles.xml"))
    if strings is not None:
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{strings}</sst>'
        targets.append(("ss", "sharedStrings", "sharedStrings.xml"))
    parts["xl/_rels/workbook.xml.rels"] = relations_xml(*targets)
    for number, xml in enumerate(sheets.values(), start=1):
        parts[f"xl/worksheets/sheet{number}.xml"] = xml
    return make_zip({**parts, **(extra or {})})


def make_zip(parts: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            # OpenDocument wants its type first and readable in the bytes.
            packed = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, packed)
    return buffer.getvalue()


def make_ods(body: str, *, styles: str = "", manifest: str = "") -> bytes:
    """An OpenDocument spreadsheet of `table:table` elements."""
    office = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(
        f'xmlns:{prefix}="{office}:{name}:1.0"'
        for prefix, name in (
            ("office", "office"), ("table", "table"), ("text", "text"), ("style", "style"),
            ("draw", "drawing"),
        )
    )  # fmt: skip
    return make_zip(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": f"<manifest>{manifest}</manifest>",
            "content.xml": f'<?xml version="1.0"?><office:document-content {spaces}>'
            f"<office:automatic-styles>{styles}</office:automatic-styles>"
            f"<office:body><office:spreadsheet>{body}</office:spreadsheet></office:body>"
            "</office:document-content>",
        }
    )


def make_xls(records: bytes) -> bytes:
    """An OLE container ([MS-CFB], sectors of 512 bytes) whose stream `Workbook` is `records`."""
    size = max(len(records), 4096)
    stream = records.ljust(-(-size // 512) * 512, b"\0")
    sectors = len(stream) // 512
    end, free = 0xFFFFFFFE, 0xFFFFFFFF
    table = [0xFFFFFFFD, end, *range(3, 2 + sectors), end]
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6,
        0, 1, 1, 0, 4096, end, 0, end, 0,
    )  # fmt: skip
    places = struct.pack("<109I", 0, *[free] * 108)
    listing = struct.pack("<128I", *table, *[free] * (128 - len(table)))

    def entry(name: str, kind: int, child: int, start: int, length: int) -> bytes:
        encoded = name.encode("utf-16-le")
        return struct.pack(
            "<64sHBBIII36xIQ", encoded, len(encoded) + 2, kind, 1, free, free, child, start, length
        )

    unused = struct.pack("<64sHBBIII36xIQ", b"", 0, 0, 0, free, free, free, 0, 0)
    directory = entry("Root Entry", 5, 1, end, 0) + entry("Workbook", 2, free, 2, size)
    return header + places + listing + directory + unused * 2 + stream


def biff8(sheet_name: str, rows: Sequence[Sequence[str | float | bool]]) -> bytes:
    """The stream of a BIFF8 workbook ([MS-XLS]) with one sheet of texts, numbers and booleans."""

    def record(kind: int, body: bytes) -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    def begin(kind: int) -> bytes:
        return record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0x0DBB, 0x07CC, 0, 6))

    name = struct.pack("<BB", len(sheet_name), 1) + sheet_name.encode("utf-16-le")
    cells = b""
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            place = struct.pack("<HHH", row, column, 0)
            if isinstance(value, bool):
                cells += record(0x0205, place + struct.pack("<BB", value, 0))
            elif isinstance(value, str):
                body = struct.pack("<HB", len(value), 1) + value.encode("utf-16-le")
                cells += record(0x0204, place + body)
            else:
                cells += record(0x0203, place + struct.pack("<d", value))
    width = max(map(len, rows))
    dimension = record(0x0200, struct.pack("<IIHHH", 0, len(rows), 0, width, 0))
    end = record(0x000A, b"")
    sheet = begin(0x0010) + dimension + cells + end
    globals_length = len(begin(0x0005)) + len(record(0x0085, bytes(6) + name)) + len(end)
    listed = record(0x0085, struct.pack("<IBB", globals_length, 0, 0) + name)
    return begin(0x0005) + listed + end + sheet
