"""Tables of sheets and of instruments' exports: each value under its column, beside its row."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from rag_assets.model import ParsedDocument
from rag_assets.parsing import ParseHints, parse_document, sniff_media_type
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_sheets import make_ods, make_xlsx, sheet_xml

Told = tuple[str, str, str]
"""The name of a row, that of a column, and the value where they meet."""


def joined(*texts: str) -> str:
    return "".join(texts)


def xlsx(*rows: Sequence[Any], merged: str = "") -> bytes:
    areas = "".join(f'<mergeCell ref="{area}"/>' for area in merged.split())
    tail = f"<mergeCells>{areas}</mergeCells>" if merged else ""
    return make_xlsx({"Data": sheet_xml(rows, tail)})


def ods(*rows: Sequence[str]) -> bytes:
    """Cells as `text`, `text>3` over three columns, `text^2` over two rows; "" is covered."""
    body = ""
    for row in rows:
        body += "<table:table-row>"
        for cell in row:
            text, _, right = cell.partition(">")
            text, _, down = text.partition("^")
            spans = f' table:number-columns-spanned="{right}"' * bool(right)
            spans += f' table:number-rows-spanned="{down}"' * bool(down)
            inner = f"<text:p>{text}</text:p>" * bool(text)
            kind = "table-cell" if text else "covered-table-cell"
            body += f"<table:{kind}{spans}>{inner}</table:{kind}>"
        body += "</table:table-row>"
    return make_ods(f'<table:table table:name="Data">{body}</table:table>')


def curve(first: float, step: float, count: int, by: str, comma: bool = False) -> str:
    found = ""
    for place in range(count):
        x, y = first + step * place, abs(math.sin(place / 3)) * 0.9 + 0.05
        found += f"{x:.1f}{by}{y:.4f}\n"
    return found.replace(".", ",") if comma else found


SPECTRUM = (
    "Instrument: Cary 60; Operator: A. Berg; Date: 2024-03-05\n"
    "Scan rate (nm/min): 600\n\nWavelength (nm),Absorbance\n" + curve(400, 2, 40, ",")
)
CHROMATOGRAM = (
    "[Header]\nApplication Name\tLabSolutions\nVersion\t5.82\nData File Name\trun7.lcd\n\n"
    "[File Information]\nType\tData File\nGenerated\t05.03.2024 10:20\n\n"
    "[Peak Table(Detector A)]\n# of Peaks\t3\n"
    "Peak#\tR.Time\tArea\tHeight\n1\t2.104\t10250\t1202\n2\t3.871\t88121\t9023\n3\t5.220\t450\t61\n\n"
    "[LC Chromatogram(Detector A-Ch1)]\nInterval(msec)\t500\n# of Points\t20\n"
    "R.Time (min)\tIntensity\n" + "".join(f"{i / 120:.5f}\t{i * 7 % 31}\n" for i in range(20))
)
POTENTIOSTAT = (
    "EC-Lab ASCII FILE\nNb header lines : 12\n\nCyclic Voltammetry\n\n"
    "Run on channel : 3\nElectrode material : glassy carbon\nInitial state : rest\n"
    "Electrolyte : 0.1 M KCl\nComments : \nMass of active material : 0.001 mg\n"
    "Ewe/V\tI/mA\tcycle number\n"
    + "".join(f"{i / 50:.3f}\t{i * 0.013:.4f}\t1\n" for i in range(30))
)
COMMENTED = (
    "# beamline 7, detector 2\n# exposure 10 s\n# columns: Q (1/nm), Intensity (a.u.)\n"
    "Q (1/nm),Intensity (a.u.)\n" + curve(0.5, 0.5, 30, ",")
)
HASHED_HEADER = "# made by dls 4.1\n#\n# time/s\tcount rate\n" + curve(0, 5, 30, "\t")
SEMICOLON_NOTES = ";Titration of 2024\n;Operator;Berg\nVolume (mL);pH\n" + curve(
    0, 0.5, 20, ";", True
)
DATA_SECTION = (
    "[Header]\nTITLE,Magnetometer run 12\nBYAPP,MPMS,1.2\n; user notes\n"
    "INFO,Iron oxide,SAMPLE_MATERIAL\n"
    "[Data]\nTemperature (K),Field (Oe),Moment (emu)\n"
    + "".join(f"{5 + i},{1000},{0.0123 + i / 1000:.4f}\n" for i in range(30))
)
UNITS_LINE = (
    "Time,Temp,Flow\n(s),(°C),(mL/min)\n0,21.5,1.20\n30,24.1,1.22\n60,30.0,1.25\n90,31.5,1.19\n"
)
SIXTY = (
    "".join(f"Parameter {i}: {i * 3}\n" for i in range(1, 58)) + "\n"
    "2theta,Counts\n" + "".join(f"{10 + i / 10:.1f},{100 + i * 17 % 90}\n" for i in range(60))
)

CASES: dict[str, tuple[str, str | bytes, list[Told]]] = {
    "groups over columns, labels over rows": (
        ".xlsx",
        xlsx(
            ["House", "Red lamp", None, "Blue lamp", None],
            [None, 2001, 2002, 2001, 2002],
            ["Eastern", 251, 263, 198, 201],
            ["Western", 252, 266, 197, 203],
            merged="A1:A2 B1:C1 D1:E1",
        ),
        [("Eastern", "Red lamp / 2002", "263"), ("Western", "Blue lamp / 2001", "197")],
    ),
    "three rows of names": (
        ".xlsx",
        xlsx(
            ["Site", "Summer", None, None, None, "Note"],
            [None, "Red lamp", None, "Blue lamp", None, None],
            [None, "Mass", "Length", "Mass", "Length", None],
            ["North", 1.5, 20, 2.5, 22, "ok"],
            ["South", 1.7, 21, 2.6, 25, "wet"],
            ["East", 1.9, 19, 2.7, 28, "dry"],
            merged="A1:A3 B1:E1 B2:C2 D2:E2 F1:F3",
        ),
        [
            ("North", "Summer / Red lamp / Length", "20"),
            ("South", "Summer / Blue lamp / Mass", "2.6"),
            ("East", "Note", "dry"),
        ],
    ),
    "two rows of names and units": (
        ".xlsx",
        xlsx(
            ["Sample", "Before", None, "After", None],
            [None, "Mass", "Temperature", "Mass", "Temperature"],
            [None, "mg", "°C", "mg", "°C"],
            ["s1", 5.1, 20, 4.9, 80],
            ["s2", 5.2, 20, 4.7, 80],
            ["s3", 5.3, 21, 4.6, 82],
            merged="B1:C1 D1:E1",
        ),
        [("s1", "After / Mass (mg)", "4.9"), ("s3", "Before / Temperature (°C)", "21")],
    ),
    "units below every name": (
        ".csv", UNITS_LINE, [("30", "Temp (°C)", "24.1"), ("90", "Flow (mL/min)", "1.19")],
    ),
    "units where the first column has none": (
        ".csv",
        "Sample,Mass,Temperature\n,mg,°C\ns1,5,20\ns2,6,25\n",
        [("s1", "Mass (mg)", "5"), ("s2", "Temperature (°C)", "25")],
    ),
    "a name over two rows beside groups": (
        ".csv",
        "Plot,2001,,2002,\n,wet,dry,wet,dry\nA,1,2,3,4\nB,5,6,7,8\nC,9,8,7,6\n",
        [("A", "2001 / dry", "2"), ("B", "2002 / wet", "7")],
    ),
    "title and notes above": (
        ".xlsx",
        xlsx(
            ["Report of the garden 2026"], ["Prepared by", "A. Berg"], [],
            ["Tray", "Weight", "Count"], ["t1", 251, 4], ["t2", 252, 5], ["Total", 503, 9], [],
            ["Note: weights in grams."],
        ),
        [("t2", "Weight", "252"), ("Total", "Count", "9")],
    ),
    "notes right above the header": (
        ".csv",
        joined(
            "Run 12\nOperator,A. Berg\nDate,2024-03-05\nTray,Weight,Count,Lamp\n",
            "t1,251,4,red\nt2,252,5,\nt3,250,6,red\n",
        ),
        [("t1", "Weight", "251"), ("t3", "Lamp", "red")],
    ),
    "a line of names and values above": (
        ".csv", SPECTRUM, [("402.0", "Absorbance", f"{abs(math.sin(1 / 3)) * 0.9 + 0.05:.4f}")],
    ),
    "sections of a chromatograph": (
        ".txt", CHROMATOGRAM, [("2", "R.Time", "3.871"), ("3", "Area", "450")],
    ),
    "a potentiostat": (".txt", POTENTIOSTAT, [("0.040", "I/mA", "0.0260")]),
    "comments with hashes": (
        ".dat", COMMENTED, [("1.0", "Intensity (a.u.)", "0.3445")],
    ),
    "the header is a comment": (
        ".dat", HASHED_HEADER, [("5.0", "count rate", f"{abs(math.sin(1 / 3)) * 0.9 + 0.05:.4f}")],
    ),
    "comments with semicolons and decimal commas": (
        ".csv", SEMICOLON_NOTES, [("0,5", "pH", "0,3445")],
    ),
    "a data section": (".dat", DATA_SECTION, [("7", "Moment (emu)", "0.0143")]),
    "fifty-seven lines above": (".csv", SIXTY, [("10.2", "Counts", "134")]),
    "two tables, one below the other": (
        ".csv",
        "Tray,Weight\nt1,5\nt2,6\n\nLamp,Power,Hours\nred,40,12\nblue,60,9\n",
        [("t2", "Weight", "6"), ("blue", "Power", "60")],
    ),
    "two tables of equal width, each below its title": (
        ".csv",
        joined(
            "Table 1. Trays,\nTray,Weight\nt1,5\nt2,6\n,\n",
            "Table 2. Lamps,\nLamp,Power\nred,40\nblue,60\n",
        ),
        [("t2", "Weight", "6"), ("blue", "Power", "60")],
    ),
    "two tables side by side": (
        ".xlsx",
        xlsx(
            ["Tray", "Weight", None, "Lamp", "Power"],
            ["t1", 5, None, "red", 40],
            ["t2", 6, None, "blue", 60],
            ["t3", 7, None, None, None],
        ),
        [("t2", "Weight", "6"), ("blue", "Power", "60"), ("t3", "Weight", "7")],
    ),
    "footnotes below": (
        ".csv",
        "Tray,Weight,Count\nt1,5,2\nt2,6,3\nTotal,11,5\n\n* weighed dry\nSource: own work\n",
        [("t1", "Count", "2"), ("Total", "Weight", "11")],
    ),
    "a header that comes again": (
        ".csv",
        "Tray,Weight\nt1,5\nt2,6\nTray,Weight\nt3,7\n",
        [("t3", "Weight", "7"), ("t1", "Weight", "5")],
    ),
    "labels merged over rows": (
        ".xlsx",
        xlsx(
            ["House", "Lamp", "Count"], ["Eastern", "red", 4], [None, "blue", 5],
            ["Western", "red", 6], [None, "blue", 7], merged="A2:A3 A4:A5",
        ),
        [("Eastern", "Lamp", "blue"), ("Western", "Count", "7")],
    ),
    "labels that are printed once": (
        ".csv",
        "House,Lamp,Count\nEastern,red,4\n,blue,5\nWestern,red,6\n,blue,7\n",
        [("Eastern", "Count", "5"), ("Western", "Count", "7")],
    ),
    "semicolons and decimal commas below a title": (
        ".csv",
        joined(
            "Messung vom 5.3.2024\n\nProbe;Masse (mg);Temperatur (°C)\n",
            "P1;5,25;20,1\nP2;6,75;25,4\nP3;7,1;30\n",
        ),
        [("P2", "Masse (mg)", "6,75"), ("P1", "Temperatur (°C)", "20,1")],
    ),
    "groups and labels of an OpenDocument sheet": (
        ".ods",
        ods(
            ["House^2", "Red lamp>2", "", "Blue lamp>2", ""],
            ["", "2001", "2002", "2001", "2002"],
            ["Eastern^2", "251", "263", "198", "201"],
            ["", "254", "264", "199", "205"],
            ["Western", "252", "266", "197", "203"],
        ),
        [("Eastern", "Red lamp / 2001", "254"), ("Western", "Blue lamp / 2002", "203")],
    ),
    "a Chinese sheet with groups": (
        ".xlsx",
        xlsx(
            ["各省产量统计表"],
            ["省份", "小麦", None, "玉米", None],
            [None, "面积", "产量", "面积", "产量"],
            ["河北", 12, 55, 13, 66], ["山西", 14, 77, 15, 88], ["辽宁", 16, 99, 17, 11],
            merged="A1:E1 A2:A3 B2:C2 D2:E2",
        ),
        [("山西", "小麦 / 产量", "77"), ("辽宁", "玉米 / 面积", "17")],
    ),
    "dates name the rows": (
        ".csv",
        "Station: Harbour\nday,rain,wind\n2024-01-01,3,4\n2024-01-02,0,5\n",
        [("2024-01-02", "wind", "5")],
    ),
    "text alone": (
        ".csv",
        joined(
            "Species,Habitat,Colour\nRana alba,lake,green\nBufo nigra,forest,brown\n",
            "Hyla minor,meadow,green\n",
        ),
        [("Bufo nigra", "Habitat", "forest")],
    ),
    "a plate reader": (
        ".csv",
        joined(
            "Plate 1,Endpoint,Raw\nWavelength,450\n\n,1,2,3,4\nA,0.11,0.12,0.13,0.14\n",
            "B,0.21,0.22,0.23,0.24\nC,0.31,0.32,0.33,0.34\n",
        ),
        [("B", "3", "0.23"), ("C", "1", "0.31")],
    ),
    "a thermogram by tabs": (
        ".txt",
        "Sample:\tpolymer 7\nSize:\t5.1230\tmg\nMethod:\tRamp\nOrgFile:\tC:\\run.001\n"
        "Time (min)\tTemperature (°C)\tWeight (mg)\n"
        + "".join(f"{i / 10:.2f}\t{25 + i * 2}\t{5.123 - i / 100:.3f}\n" for i in range(40)),
        [("0.20", "Weight (mg)", "5.103"), ("0.30", "Temperature (°C)", "31")],
    ),
}  # fmt: skip


def read(name: str) -> ParsedDocument:
    extension, data, _ = CASES[name]
    encoded = data if isinstance(data, bytes) else data.encode()
    return parse_document(encoded, ParseHints(extension), make_settings())


def told_in(document: ParsedDocument, told: Told) -> bool:
    """Say whether a row has a value under its column and names its row."""
    row, column, value = told
    for block in document.blocks:
        text = document.text[block.start : block.end]
        named, *cells = text.replace(": ", "; ", 1).split("; ") if block.kind == "row" else [""]
        if (named == row or named.endswith(f" {row}")) and f"{column} = {value}" in cells:
            return True
    return False


@pytest.mark.parametrize("name", CASES)
def test_each_value_has_its_row_and_column(name: str) -> None:
    document = read(name)
    missing = [told for told in CASES[name][2] if not told_in(document, told)]
    assert not missing, document.text[:1500]


def test_prose_with_some_numbers_below_is_no_export() -> None:
    prose = "".join(f"This is line {n}, with a comma, of a letter to Anna.\n" for n in range(40))
    assert (
        sniff_media_type((prose + "x,y\n" + curve(0, 1, 20, ",")).encode(), ".txt") == "text/plain"
    )
    assert sniff_media_type(("x,y\n" + curve(0, 1, 20, ",")).encode(), ".txt") == "text/csv"


def test_a_header_that_comes_again_may_bring_other_names() -> None:
    text = "Sensor;x;y\nS1;1;2\nS2;3;4\n\nSensor;u;v\nS1;5;6\nS2;7;8\n"
    document = parse_document(text.encode(), ParseHints(".csv"), make_settings())
    assert document.text.split("\n") == [
        "Sensor S1: x = 1; y = 2", "Sensor S2: x = 3; y = 4",
        "Sensor S1: u = 5; v = 6", "Sensor S2: u = 7; v = 8",
    ]  # fmt: skip
