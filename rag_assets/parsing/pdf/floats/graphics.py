"""Where a PDF page holds images, drawings and rules; asked only where a sign calls for it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rag_assets.model import Box
from rag_assets.parsing.pdf.drawn import DrawnPage
from rag_assets.parsing.pdf.library import load_pymupdf

# Rules are drawn as thin strokes or as thin filled rectangles.
_MAX_RULE_POINTS = 2.5
_MIN_RULE_POINTS = 15.0
# What reaches further beyond the page is a clipped background, not where ink is.
_MAX_OUTSIDE_POINTS = 30.0
# Icons and logos have fewer pixels on their shorter side.
_MIN_PICTURE_PIXELS = 100
# A map or a scatter plot may hold a hundred thousand paths; so many show its place.
_MAX_GRAPHICS = 20_000


@dataclass(frozen=True, slots=True)
class Graphic:
    """Something on a page that is not text.

    Args:
        kind: `rule` is a long thin horizontal line, `bar` a vertical one.
        box: on the page as shown.
    """

    kind: Literal["image", "path", "rule", "bar"]
    box: Box


# Captions of figures and tables in the languages of the specs and some others; a line that starts
# so is worth a look at what the page draws, no more: `pdf_captions` decides.
FIGURE_WORDS = (
    r"(?:Extended Data |Supplementa(?:ry|l) |Online )?(?:Figures?|Figs?\b\.?)|Schemes?|Charts?"
    r"|Plates?|Abbildung|Abb\.|Figura|Рисунок|Рис\.|Схема|图|圖|附图"
)
TABLE_WORDS = (
    r"(?:Extended Data |Supplementa(?:ry|l) |Online )?Tables?|Tab\.|Tabelle|Tableau|Tabela|Tabla"
    r"|Quadro|Таблица|Табл\.|表|附表"
)
OTHER_WORDS = r"Algorithms?|Alg\.|Listing|Box|算法|Алгоритм|Листинг|Algorithme|Algoritmo"
NUMBER = (
    r"(?:(?-i:[A-Z]{0,2})[-.]?\d+(?:[.\-–]\d+)*[a-z]?"
    r"|(?<=\s)(?-i:[IVXL]+|[A-Z])(?![^\W_]))"
)
CAPTION_START = re.compile(
    rf"(?:{FIGURE_WORDS}|{TABLE_WORDS}|{OTHER_WORDS})\s{{0,2}}{NUMBER}", re.IGNORECASE
)


def read_graphics(page: Any, texts: Iterable[str], drawn: DrawnPage) -> list[Graphic]:
    """Return the images, drawings and rules of a pymupdf page, without reading their content.

    It takes half as long as reading the page's text, so pages on which neither a line starts
    like a caption nor an image is listed are not asked.

    Args:
        page: a `pymupdf.Page`.
        texts: of its lines.
        drawn: the same page.

    Raises:
        RuntimeError: MuPDF cannot read the page.
    """
    if not any(map(CAPTION_START.match, texts)) and not _has_picture(page):
        return []
    pymupdf = load_pymupdf()
    matrix = page.rotation_matrix if page.rotation else None
    width, height = page.rect.width, page.rect.height
    found: list[Graphic] = []
    for kind, box in drawn.log:
        if "text" in kind or kind.startswith("clip"):
            continue
        if matrix is not None:
            turned = pymupdf.Rect(box) * matrix
            box = (turned.x0, turned.y0, turned.x1, turned.y1)  # noqa: PLW2901 - the same box
        graphic = _graphic(kind, box, width, height)
        if graphic is not None:
            found.append(graphic)
            if len(found) >= _MAX_GRAPHICS:
                break
    return found


def _has_picture(page: Any) -> bool:
    """Tell whether a page lists an image that is larger than an icon."""
    return any(min(image[2], image[3]) >= _MIN_PICTURE_PIXELS for image in page.get_images())


def _graphic(kind: str, box: Sequence[float], width: float, height: float) -> Graphic | None:
    left, top, right, bottom = box
    outside = max(-left, -top, right - width, bottom - height)
    is_image = "image" in kind
    if (outside > _MAX_OUTSIDE_POINTS and not is_image) or right < 0 or bottom < 0:
        return None
    clipped = (max(0.0, left), max(0.0, top), min(width, right), min(height, bottom))
    wide, high = clipped[2] - clipped[0], clipped[3] - clipped[1]
    if wide < 0 or high < 0:
        return None
    if is_image:
        return Graphic("image", clipped)
    if high <= _MAX_RULE_POINTS and wide >= _MIN_RULE_POINTS:
        return Graphic("rule", clipped)
    if wide <= _MAX_RULE_POINTS and high >= _MIN_RULE_POINTS:
        return Graphic("bar", clipped)
    return Graphic("path", clipped)
