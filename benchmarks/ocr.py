"""Scans made by program, read by each engine: character error rates and seconds a page.

    OMP_THREAD_LIMIT=1 python -m benchmarks.ocr [--json OUT] [--misses]

The text is that of samples/raw/evidence: two articles in English, one in Chinese, and a page where
their paragraphs alternate. Each page is set in three typefaces of its script and scanned at 150 and
200 dpi, once clean and once worn: turned by 0.7 degrees, blurred, with noise, stored as JPEG of
quality 40. Every engine reads the same files through the parser, on one core as in `rag ingest`.
Errors are Levenshtein edits by characters of the true text, in reading order, after NFKC (℃ is °C),
white space aside where it stands next to a Chinese character and folded elsewhere. Needs the extra
`ocr`, Tesseract with `eng` and `chi_sim`, and the typefaces below (Debian: fonts-liberation
fonts-dejavu-core fonts-noto-cjk fonts-wqy-microhei).
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pymupdf
from rapidfuzz.distance import Levenshtein

from rag_assets.model import HAN_RANGES
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.cleaning import close_gaps
from rag_assets.workspace import shipped_settings

SAMPLES = Path(__file__).resolve().parents[1] / "samples" / "raw" / "evidence"
LATIN = ("Liberation Serif", "Liberation Sans", "DejaVu Serif")
CHINESE = ("Noto Serif CJK SC", "Noto Sans CJK SC", "WenQuanYi Micro Hei")
ENGINES: dict[str, dict[str, str]] = {
    "Tesseract eng": {"ocr": "tesseract", "ocr_languages": "eng"},
    "Tesseract chi_sim": {"ocr": "tesseract", "ocr_languages": "chi_sim"},
    "Tesseract eng+chi_sim": {"ocr": "tesseract", "ocr_languages": "eng+chi_sim"},
    "RapidOCR": {"ocr": "rapidocr"},
    "auto": {"ocr": "auto"},
}
_SEED = 54
_WIDTH, _HEIGHT, _MARGIN, _SIZE, _LEADING = 595, 260, 60, 9, 13
_TOKEN = re.compile(rf"[{HAN_RANGES}][，。；：、）》]*|[^\s{HAN_RANGES}]+\s*|\s+")
_SPACE_BY_HAN = re.compile(rf"(?<=[{HAN_RANGES}])\s+|\s+(?=[{HAN_RANGES}])")


def paragraphs(name: str, count: int) -> list[str]:
    """Return the first paragraphs of prose of a sample."""
    path = next(SAMPLES.glob(name))
    document = parse_document(path.read_bytes(), ParseHints(".pdf"), shipped_settings().parse)
    found = [document.text[b.start : b.end] for b in document.blocks if b.kind == "paragraph"]
    return [one for one in found if len(one) > 100][:count]


def typeface(family: str) -> pymupdf.Font:
    """Return an installed typeface; a family that fontconfig would replace is refused."""
    pattern = ["fc-match", "--format", "%{family}\t%{file}\t%{index}", family]
    found = subprocess.run(pattern, stdout=subprocess.PIPE, text=True, check=True).stdout
    families, file, index = found.split("\t")
    if family not in families.split(","):
        sys.exit(f"The typeface {family} is not installed.")
    font = pymupdf.Font(fontfile=file)
    font.this = pymupdf.mupdf.fz_new_font_from_file(None, file, int(index), 0)
    return font


def set_page(texts: list[str], font: pymupdf.Font) -> tuple[pymupdf.Document, str]:
    """Return a page with paragraphs, and the text that has room on it."""
    document = pymupdf.open()
    writer = pymupdf.TextWriter((0, 0, _WIDTH, _HEIGHT))
    y, printed = _MARGIN + _SIZE, []
    for text in texts:
        lines, line = [], ""
        for token in _TOKEN.findall(text):
            if font.text_length((line + token).rstrip(), _SIZE) > _WIDTH - 2 * _MARGIN:
                lines.append(line)
                line = ""
            line += token
        for one in (*lines, line):
            if y > _HEIGHT - _MARGIN:
                break
            writer.append((_MARGIN, y), one.rstrip(), font=font, fontsize=_SIZE)
            printed.append(one)
            y += _LEADING
        printed.append("\n")
        y += _LEADING / 2
    writer.write_text(document.new_page(width=_WIDTH, height=_HEIGHT))
    return document, "".join(printed)


def scan(document: pymupdf.Document, dpi: int, *, is_worn: bool) -> bytes:
    """Return a PDF whose only page is the picture of that of `document`."""
    matrix = pymupdf.Matrix(dpi / 72, dpi / 72)
    picture = document[0].get_pixmap(matrix=matrix.prerotate(0.7) if is_worn else matrix)
    shape = picture.height, picture.width, 3
    ink = np.frombuffer(picture.samples, np.uint8).reshape(shape).mean(axis=2)
    if is_worn:
        padded = np.pad(ink, 1, mode="edge")
        across = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
        ink = (across[:-2] + 2 * across[1:-1] + across[2:]) / 16
        ink = 40 + 0.78 * ink + np.random.default_rng(_SEED).normal(0, 14, ink.shape)
    grey = np.clip(ink, 0, 255).astype(np.uint8)
    sheet = pymupdf.Pixmap(pymupdf.csGRAY, grey.shape[1], grey.shape[0], grey.tobytes(), False)
    target = pymupdf.open()
    page = target.new_page(width=_WIDTH, height=_HEIGHT)
    quality = {"output": "jpeg", "jpg_quality": 40} if is_worn else {"output": "png"}
    page.insert_image(page.rect, stream=sheet.tobytes(**quality))
    return target.tobytes()


def folded(text: str) -> str:
    return _SPACE_BY_HAN.sub("", close_gaps(" ".join(normalize("NFKC", text).split())))


def pages() -> Iterator[tuple[str, str, int, bool, bytes, str]]:
    """Yield language, typeface, dpi, whether it is worn, the scan and its text."""
    english = paragraphs("green-roofs*", 4) + paragraphs("cool-pavements*", 4)
    chinese = paragraphs("行道树*", 12)
    mixed = [one for pair in zip(english[2:], chinese[2:], strict=False) for one in pair]
    for language, texts, faces in (
        ("English", english, LATIN), ("Chinese", chinese, CHINESE), ("mixed", mixed, CHINESE),
    ):  # fmt: skip
        for face in faces:
            document, text = set_page(texts, typeface(face))
            for dpi in (150, 200):
                for is_worn in (False, True):
                    yield language, face, dpi, is_worn, scan(document, dpi, is_worn=is_worn), text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write every page and engine as JSON")
    parser.add_argument("--misses", action="store_true", help="print the worst page of each engine")
    options = parser.parse_args()
    shipped = shipped_settings().parse
    rows, read = [], {}
    for language, face, dpi, is_worn, data, truth in pages():
        for engine, changes in ENGINES.items():
            begun = time.process_time()
            document = parse_document(data, ParseHints(".pdf"), shipped.model_copy(update=changes))
            row = {
                "language": language, "typeface": face, "dpi": dpi, "worn": is_worn,
                "engine": engine, "seconds": time.process_time() - begun,
                "errors": Levenshtein.distance(folded(truth), folded(document.text)),
                "characters": len(folded(truth)), "read_by": document.warnings[-1],
            }  # fmt: skip
            rows.append(row)
            read[language, face, dpi, is_worn, engine] = document.text, truth
            print(json.dumps(row, ensure_ascii=False), file=sys.stderr, flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1), "utf-8")
    totals: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0, 0, 0])
    for row in rows:
        for column in (
            f"{row['language']}, {row['dpi']} dpi{', worn' if row['worn'] else ''}",
            f"seconds {row['language']}",
        ):
            sums = totals[column, row["engine"]]
            for place, key in enumerate(("errors", "characters", "seconds")):
                sums[place] += row[key]
            sums[3] += 1
    columns = list(dict.fromkeys(column for column, _ in totals))
    print(f"| pages | {' | '.join(ENGINES)} |\n|{' --- |' * (len(ENGINES) + 1)}")
    for column in sorted(columns, key=lambda one: one.startswith("seconds")):
        cells = [totals[column, engine] for engine in ENGINES]
        shown = [f"{errors / characters:.2%}" for errors, characters, _, _ in cells]
        if column.startswith("seconds"):
            shown = [f"{seconds / count:.1f}" for _, _, seconds, count in cells]
        print(f"| {column} | {' | '.join(shown)} |")
    if options.misses:
        for engine in ENGINES:
            worst = max(
                (row for row in rows if row["engine"] == engine),
                key=lambda row: row["errors"] / row["characters"],
            )
            key = tuple(worst[name] for name in ("language", "typeface", "dpi", "worn", "engine"))
            print(f"\n{key}: {worst['errors']} of {worst['characters']}\n{read[key][0]}")


if __name__ == "__main__":
    main()
