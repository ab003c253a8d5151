import io
import random
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as rules
from hypothesis import strategies as st

from rag_assets.model import ParseFailure
from rag_assets.parsing import ParseHints, parse_document, registry, sniff_media_type
from rag_assets.parsing.package import OfficePackage, decrypt_package
from rag_assets.parsing.sniffing import (
    DOC_TYPE,
    DOCX_TYPE,
    PPTX_TYPE,
    PROTECTED_OFFICE_TYPE,
    XLSX_TYPE,
)
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_office import (
    make_content_types,
    make_docx,
    make_package,
    make_pptx,
    make_relationships,
    read,
    slide_shape,
    word_paragraph,
    xml_part,
)
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract, parse_or_known_reason

OPEN = "application/vnd.openxmlformats-officedocument."
SMALL_DOCX = make_docx(word_paragraph("A first line.") + word_paragraph("And a second."))
LARGER_DOCX = make_docx(
    word_paragraph("A first line."), {"word/media/noise.png": random.Random(1).randbytes(5000)}
)
SMALL_PPTX = make_pptx([slide_shape("Title", "title") + slide_shape("Body.")])


def reason_of(data: bytes, password: str | None = None, **changes: object) -> ParseFailure:
    with pytest.raises(ParseFailure) as caught:
        parse_document(data, ParseHints("", password), make_settings(**changes))
    return caught.value


def encrypt(package: bytes, password: str) -> bytes:
    from msoffcrypto.format.ooxml import OOXMLFile

    assert len(package) > 4096, "smaller ones msoffcrypto 6.1 writes wrongly"
    encrypted = io.BytesIO()
    OOXMLFile(io.BytesIO(package)).encrypt(password, encrypted)
    return encrypted.getvalue()


def make_ole(stream: str) -> bytes:
    """Return an OLE container of version 3 with one empty stream (MS-CFB)."""

    def entry(name: str, kind: int, child: int) -> bytes:
        coded = name.encode("utf-16-le")
        return (
            coded.ljust(64, b"\x00")
            + struct.pack("<HBBIII", len(coded) + 2, kind, 1, FREE, FREE, child)
            + b"\x00" * 36
            + struct.pack("<IQ", END, 0)
        )

    FREE, END = 0xFFFFFFFF, 0xFFFFFFFE  # noqa: N806 - as the specification calls them
    header = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 16
        + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + b"\x00" * 6
        + struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, END, 0, END, 0)
        + struct.pack("<I", 0) + struct.pack("<I", FREE) * 108
    )  # fmt: skip
    table = struct.pack("<II", 0xFFFFFFFD, END) + struct.pack("<I", FREE) * 126
    directory = entry("Root Entry", 5, 1) + entry(stream, 2, FREE) + b"\x00" * 256
    return header + table + directory + b"\x00" * 512


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (OPEN + "wordprocessingml.document.main+xml", DOCX_TYPE),
        (OPEN + "wordprocessingml.template.main+xml", DOCX_TYPE),
        ("application/vnd.ms-word.document.macroEnabled.main+xml", DOCX_TYPE),
        ("application/vnd.ms-word.template.macroEnabledTemplate.main+xml", DOCX_TYPE),
        (OPEN + "presentationml.slideshow.main+xml", PPTX_TYPE),
        ("application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml", PPTX_TYPE),
        (OPEN + "spreadsheetml.sheet.main+xml", XLSX_TYPE),
        ("application/vnd.ms-excel.sheet.macroEnabled.main+xml", XLSX_TYPE),
        ("application/vnd.ms-visio.drawing.main+xml", "application/zip"),
    ],
)  # fmt: skip
def test_content_types_tell_the_format_whatever_the_parts_are_called(
    kind: str, expected: str
) -> None:
    data = make_package({"[Content_Types].xml": make_content_types("anything.xml", kind)})
    assert sniff_media_type(data, ".txt") == expected


def test_package_inside_another_does_not_tell_its_format() -> None:
    buffer = io.BytesIO(SMALL_PPTX)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("ppt/embeddings/inner.docx", SMALL_DOCX)
    assert sniff_media_type(buffer.getvalue(), "") == PPTX_TYPE


def test_office_file_with_the_name_of_another_is_read_and_told() -> None:
    (warning,) = parse_document(SMALL_DOCX, ParseHints(".PPTX"), make_settings()).warnings
    assert ".pptx but holds a document of type .docx" in warning
    assert parse_document(SMALL_DOCX, ParseHints(".docm"), make_settings()).warnings == ()


def test_truncated_package_is_damaged_and_still_of_its_format() -> None:
    failure = reason_of(SMALL_DOCX[: len(SMALL_DOCX) * 3 // 5])
    assert failure.reason_code == "damaged_file"
    assert "again" in failure.message


def test_altered_part_is_damaged() -> None:
    place = SMALL_DOCX.index(b"word/document.xml") + len("word/document.xml") + 20
    altered = SMALL_DOCX[:place] + bytes([SMALL_DOCX[place] ^ 0xFF]) + SMALL_DOCX[place + 1 :]
    assert reason_of(altered).reason_code == "damaged_file"


def test_part_that_is_no_xml_is_damaged() -> None:
    failure = reason_of(make_docx("", {"word/document.xml": "<w:document>"}))
    assert failure.reason_code == "damaged_file"
    assert "word/document.xml" in failure.message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entity_bomb_is_hostile_and_never_expanded(encoding: str) -> None:
    bomb = (
        f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE x [<!ENTITY a "ha">'
        '<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        + xml_part("w:document", f"<w:body>{word_paragraph('&b;')}</w:body>").partition("?>")[2]
    )
    failure = reason_of(make_docx("", {"word/document.xml": bomb.encode(encoding)}))
    assert failure.reason_code == "hostile_file"


def test_entity_bomb_in_an_attribute_is_hostile_before_it_is_parsed() -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = (
        f'<!DOCTYPE x [<!ENTITY e0 "ha">{levels}]>'
        + xml_part("w:document", f"<w:body>{word_paragraph('x', '&e11;')}</w:body>").partition(
            "?>"
        )[2]
    )
    failure = reason_of(make_docx("", {"word/document.xml": bomb}))
    assert failure.reason_code == "hostile_file"


def test_external_entity_is_not_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    document = (
        f'<!DOCTYPE x [<!ENTITY s SYSTEM "{secret.as_uri()}">]>'
        + xml_part("w:document", f"<w:body>{word_paragraph('&s;')}</w:body>").partition("?>")[2]
    )
    assert reason_of(make_docx("", {"word/document.xml": document})).reason_code == "hostile_file"


def test_part_that_inflates_beyond_all_measure_is_hostile_and_not_unpacked() -> None:
    blanks = word_paragraph(" " * 3_000_000)
    failure = reason_of(make_docx(blanks), max_megabytes=2)
    assert failure.reason_code == "hostile_file"
    assert "3 MB" in failure.message


def test_package_that_is_only_large_says_how_to_go_on() -> None:
    noise = random.Random(1).randbytes(1_500_000)
    data = make_docx(word_paragraph("x"), {f"word/media/{n}.png": noise for n in range(2)})
    failure = reason_of(data, max_megabytes=2)
    assert failure.reason_code == "size_limit"


def test_part_whose_header_lies_about_its_size_is_damaged() -> None:
    data = bytearray(make_docx(word_paragraph("long text " * 1000)))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        size = struct.pack("<I", archive.getinfo("word/document.xml").file_size)
    lying = bytes(data).replace(size, struct.pack("<I", 100))
    assert reason_of(lying).reason_code == "damaged_file"


def test_names_that_climb_out_of_the_package_stay_in_it(tmp_path: Path) -> None:
    data = make_docx(
        word_paragraph("Text."),
        {"../../evil.txt": b"x", "word/styles.xml": xml_part("w:styles", "")},
        {"s": ("styles", "../../../word/styles.xml"), "t": ("theme", "/../../../../etc/passwd")},
    )
    package = OfficePackage(data, make_settings())
    assert "evil.txt" in package.names
    assert package.related("word/document.xml", "styles") == ("word/styles.xml",)
    assert package.related("word/document.xml", "theme") == ()
    assert read(data).text == "Text."
    assert list(tmp_path.iterdir()) == []


def test_names_of_parts_are_compared_without_case_and_with_either_slash() -> None:
    package = OfficePackage(make_package({"Word\\Document.xml": "<a/>"}), make_settings())
    assert package.tree("/word/document.xml").tag == "a"


def test_deep_nesting_ends_with_a_reason() -> None:
    deep = "<w:sdt><w:sdtContent>" * 1500 + word_paragraph("x") + "</w:sdtContent></w:sdt>" * 1500
    assert reason_of(make_docx(deep)).reason_code in {"hostile_file", "damaged_file"}


def test_relationship_of_a_package_that_leads_nowhere_is_damaged() -> None:
    data = make_package(
        {
            "[Content_Types].xml": make_content_types(
                "word/gone.xml",
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
            ),
            "_rels/.rels": make_relationships({"main": ("officeDocument", "word/gone.xml")}),
        }
    )
    assert reason_of(data).reason_code == "damaged_file"


def test_encrypted_document_is_read_with_its_password_only() -> None:
    locked = encrypt(LARGER_DOCX, "open sesame")
    assert sniff_media_type(locked, ".docx") == PROTECTED_OFFICE_TYPE
    assert reason_of(locked).reason_code == "password_required"
    assert "<file>.meta.yaml" in reason_of(locked).message
    assert reason_of(locked, "wrong").reason_code == "password_wrong"
    document = parse_document(locked, ParseHints("", "open sesame"), make_settings())
    assert document.text == "A first line."
    assert document.media_type == DOCX_TYPE


def test_password_that_excel_never_asks_for_is_named() -> None:
    assert "VelvetSweatshop" in reason_of(encrypt(LARGER_DOCX, "VelvetSweatshop")).message


@pytest.mark.parametrize("stream", ["EncryptedPackage", "Workbook"])
def test_an_extra_that_is_missing_is_named(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    failure = reason_of(make_ole(stream))
    assert failure.reason_code == "missing_extra" and "rag-assets[office]" in failure.message


def test_damaged_encryption_is_no_question_of_the_password() -> None:
    with pytest.raises(ParseFailure) as caught:
        decrypt_package(make_ole("EncryptedPackage"), "any")
    assert caught.value.reason_code == "damaged_file"


def test_legacy_word_file_says_how_to_convert_it() -> None:
    data = make_ole("WordDocument")
    assert sniff_media_type(data, ".docx") == DOC_TYPE
    failure = reason_of(data)
    assert failure.reason_code == "unsupported_format"
    assert "save it as .docx" in failure.message


@given(st.sampled_from([SMALL_DOCX, SMALL_PPTX]), st.data())
@rules(suppress_health_check=list(HealthCheck))
def test_package_with_bytes_changed_gives_a_document_or_a_known_reason(
    whole: bytes, data: st.DataObject
) -> None:
    altered = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 12))):
        altered[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    parse_or_known_reason(bytes(altered), ".docx")


WORDS = st.text("ab &<>\u4e00\u00ad|[]#\t", max_size=12).map(
    lambda text: text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
)
TAGS = st.sampled_from(["p", "r", "tbl", "tr", "tc", "sdt", "sdtContent", "ins", "del", "hyperlink",
                        "txbxContent", "drawing", "fldSimple", "footnoteReference"])  # fmt: skip
TREES = st.recursive(
    WORDS.map(lambda text: f"<w:r><w:t>{text}</w:t></w:r>"),
    lambda inner: st.tuples(TAGS, st.lists(inner, max_size=3)).map(
        lambda made: f"<w:{made[0]}>{''.join(made[1])}</w:{made[0]}>"
    ),
    max_leaves=12,
)


@given(st.lists(TREES, max_size=4))
def test_elements_in_any_order_give_a_document_or_no_text(trees: list[str]) -> None:
    try:
        document = read(make_docx("".join(trees)))
    except ParseFailure as failure:
        assert failure.reason_code == "empty_file"
    else:
        assert_keeps_the_contract(document)
