"""Texts in the encodings of the world, also where nothing says which."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import ParseFailure
from rag_assets.parsing.sniffing import sniff_media_type
from rag_assets.parsing.text import declared_encoding, decode_text
from rag_assets_tests.parsing.test_real_papers import DATA

# Of each language enough for statistics, written for these tests.
SAMPLES = {
    "ru": "Лёд на реке стоял до самой весны, и никто не решался его перейти. ",
    "zh": "中华人民共和国的法律规定，公民的合法权益受到保护，任何人不得侵犯他人的权利。",
    "ja": "川の氷は春まで残り、誰も向こう岸へ渡ろうとはしなかった。それでも舟は出た。",
    "ko": "강의 얼음은 봄까지 남아 있었고 아무도 건너편으로 건너가려고 하지 않았다. ",
    "el": "Ο πάγος στο ποτάμι έμεινε ως την άνοιξη και κανείς δεν τόλμησε να περάσει. ",
    "he": "הקרח על הנהר נשאר עד האביב ואיש לא העז לעבור אל הגדה השנייה של הנהר. ",
    "hu": "A jég tavaszig megmaradt a folyón, és senki sem mert átkelni rajta. Őszintén. ",
    "fr": "La glace était restée sur la rivière jusqu'au printemps, et nul n'osait traverser. ",
}
ENCODED = [
    ("ru", "cp1251"), ("ru", "koi8_r"), ("ru", "iso8859_5"), ("ru", "cp866"),
    ("ru", "mac_cyrillic"),
    ("zh", "gb18030"), ("zh", "hz"), ("ja", "cp932"), ("ja", "euc_jp"), ("ja", "iso2022_jp"),
    ("ko", "cp949"), ("ko", "johab"), ("ko", "iso2022_kr"), ("el", "cp1253"), ("he", "cp1255"),
    ("hu", "cp1250"), ("hu", "iso8859_2"), ("fr", "cp1252"),
    *((language, wide) for language in ("ru", "zh", "ja", "fr")
      for wide in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")),
]  # fmt: skip


@pytest.mark.parametrize(("language", "encoding"), ENCODED)
def test_a_text_without_mark_or_declaration_is_read(language: str, encoding: str) -> None:
    text = SAMPLES[language] * 4 + "\n"
    data = text.encode(encoding)
    assert sniff_media_type(data, "") == "text/plain"
    assert decode_text(data)[0] == text


@pytest.mark.parametrize(
    ("declaration", "label", "text"),
    [
        ('<?xml version="1.0" encoding="{}"?>\n', "Shift_JIS", "①株式会社"),
        ('<meta charset="{}">\n', "gb2312", "朱镕基说"),
        ('<meta http-equiv="Content-Type" content="text/html; charset={}">\n', "euc-kr", "뷁과 햏"),
        ("<META CHARSET={}>\n", "ISO-8859-1", "“déjà vu”"),
        ("# -*- coding: {} -*-\n", "windows-1251", "Лёд"),
        ('@charset "{}";\n', "x-sjis", "日本"),
    ],
)
def test_a_declared_encoding_is_read_as_its_vendor_superset(
    declaration: str, label: str, text: str
) -> None:
    superset = {
        "Shift_JIS": "cp932", "gb2312": "gb18030", "euc-kr": "cp949",
        "ISO-8859-1": "cp1252", "windows-1251": "cp1251", "x-sjis": "cp932",
    }[label]  # fmt: skip
    source = declaration.format(label) + text
    assert decode_text(source.encode(superset))[0] == source


def test_valid_utf8_is_utf8_whatever_it_declares() -> None:
    source = '<meta charset="windows-1252">Größe'
    assert decode_text(source.encode()) == (source, "utf-8", ())


def test_a_false_declaration_that_makes_noise_is_not_taken() -> None:
    source = '<?xml version="1.0" encoding="Shift_JIS"?>' + SAMPLES["ru"] * 5
    text, encoding, warnings = decode_text(source.encode("cp1251"))
    assert (text, encoding) == (source, "cp1251")
    assert len(warnings) <= 1


def test_an_unknown_label_is_no_declaration() -> None:
    assert declared_encoding(b'<meta charset="klingon">') is None
    assert declared_encoding(b'<meta charset="base64">') is None


def test_fractions_stay_fractions_in_latin_1() -> None:
    text = "Der Weg ist 3 ½ Meilen lang, die Brücke ¼ Meile, größer als früher. " * 3
    assert decode_text(text.encode("iso8859-1"))[0] == text


def test_a_few_signs_make_no_text_unknown() -> None:
    text = "The sample was held at 20 °C ± 0.5 K for three hours, washed twice and weighed. " * 4
    text += "The parts cost some £300 together, as was said in the report of last year.\n" * 2
    assert decode_text(text.encode("cp1252"))[0] == text


def test_damaged_utf8_is_still_utf8_and_said() -> None:
    text = SAMPLES["zh"] * 10
    data = text.encode()
    text, encoding, warnings = decode_text(data[:300] + b"\xff" + data[300:] + b"\xe4\xb8")
    assert encoding == "utf-8"
    assert text.count("\ufffd") == 2
    assert "2 places in it are damaged" in warnings[0]


def test_a_broken_byte_in_an_old_encoding_is_said() -> None:
    data = ((SAMPLES["zh"] + "\n") * 60).encode("gb18030")
    text, encoding, warnings = decode_text(data[:500] + b"\xff" + data[501:])
    assert encoding == "gb18030"
    assert text.count(SAMPLES["zh"]) == 59
    assert "damaged" in warnings[0]


def test_runs_of_nul_bytes_are_left_out_and_said() -> None:
    data = b"\x00" * 512 + b"Words of a file" + b"\x00" * 100 + b" after a crash."
    assert sniff_media_type(data, ".txt") == "text/plain"
    text, _, warnings = decode_text(data)
    assert text == "Words of a file after a crash."
    assert warnings[0].startswith("The file is text; 612 NUL bytes")


@pytest.mark.parametrize("data", [b"some\x00thing", b"a\x00b\x00\x00\x00\x01\x02", b"\x00" * 64])
def test_stray_nul_bytes_make_no_utf16(data: bytes) -> None:
    assert sniff_media_type(data, ".txt") == "application/octet-stream"


def test_a_guess_is_said() -> None:
    _, encoding, (warning,) = decode_text((SAMPLES["ru"] * 4).encode("koi8_r"))
    assert encoding in warning
    assert "a guess" in warning


def test_noise_in_high_bytes_is_an_unknown_encoding() -> None:
    with pytest.raises(ParseFailure) as caught:
        decode_text(random.Random(1).randbytes(2000).translate(None, bytes(range(0xA0))))
    assert caught.value.reason_code == "unknown_encoding"


PRINTED = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff")
MARKED = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"])


@given(st.text(PRINTED, min_size=1), MARKED)
def test_marked_text_and_utf8_come_back_exactly(text: str, encoding: str) -> None:
    if text.strip():
        assert decode_text(text.encode(encoding))[0] == text


@given(st.binary(min_size=1, max_size=300))
def test_any_bytes_decode_or_fail_with_a_reason(data: bytes) -> None:
    try:
        text, encoding, _ = decode_text(data)
    except ParseFailure as failure:
        assert failure.reason_code in {"unknown_encoding", "empty_file"}
    else:
        assert text.strip()
        assert encoding


def test_the_shared_texts_decode_to_their_truth() -> None:
    manifest = DATA / "nasty" / "encodings" / "manifest.jsonl"
    if not manifest.exists():
        pytest.skip(f"no {manifest}; set RAG_SHARED_DATA")
    wrong = []
    rows = [json.loads(line) for line in manifest.read_text().splitlines()]
    for row in rows:
        truth = (DATA / "nasty" / row["utf8_path"]).read_bytes().decode()
        truth = truth.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
        text, encoding, warnings = decode_text((DATA / "nasty" / row["path"]).read_bytes())
        if text != truth.removeprefix("\ufeff"):
            wrong.append(f"{row['path']}: {row['encoding']} read as {encoding}")
            assert warnings, f"{row['path']} is wrong and nothing says so"
    # charset-normalizer alone: 75 of 84.
    assert len(wrong) <= 0.08 * len(rows), wrong
