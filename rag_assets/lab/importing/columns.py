"""What the columns of a sheet of experiments mean, by their headers or by what a person says."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.model import UsageError

# What a column may be, with the headers by which it is known; a person may name others.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "M1": ("m1", "metal 1", "金属1", "金属一"),
    "M2": ("m2", "metal 2", "金属2", "金属二"),
    "ratio": ("ratio", "atomic ratio", "m1 m2", "原子比", "比例"),
    "catalyst": ("catalyst", "formula", "sample", "催化剂", "样品"),
    "modifier": ("modifier", "small molecule", "small molecule modifier", "修饰剂", "小分子",
                 "修饰小分子"),
    "smiles": ("smiles",),
    "linker": ("linker", "mof", "host", "support", "配体", "连接体", "载体"),
    "score": ("score", "评分", "得分"),
    "pros": ("pros", "advantages", "优点"),
    "cons": ("cons", "disadvantages", "缺点"),
    "other": ("other", "remarks", "notes", "comment", "comments", "备注"),
    "as_made": ("as made", "deviations", "实际做法"),
    "date": ("date", "日期", "实验日期"),
}  # fmt: skip
# A header stands near the top, and has at least so many columns that are known.
_HEADER_WITHIN, _FEWEST_KNOWN = 20, 2
_UNIT = re.compile(r"[(\[（【]([^)\]）】]*)[)\]）】]\s*$")
_BETWEEN_WORDS = re.compile(r"[\W_]+")

Cells = Mapping[int, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Args:
        index: from 0.
        header: as it stands in the sheet.
        field: of `FIELDS`, or `product`; None where it is not used.
        product: its name in the catalogue, or its header without the unit.
        unit: what stands in brackets behind the header; kept, never converted.
    """

    index: int
    header: str
    field: str | None = None
    product: str = ""
    unit: str = ""


def find_columns(
    rows: Sequence[tuple[int, Cells]],
    products: Collection[str],
    said: Mapping[str, str],
    new_products: Collection[str] = (),
) -> tuple[int, tuple[Column, ...]]:
    """Return the index in `rows` of the header, and what its columns are.

    Args:
        rows: number and cells of each filled row.
        products: names of the catalogue.
        said: header by field, where a person says so; it goes before the known headers.
        new_products: headers of products that are not in the catalogue yet.

    Raises:
        UsageError: no row is a header, or a header that was said is not there.
    """
    best, found = -1, tuple[Column, ...]()
    for index, (_, cells) in enumerate(rows[:_HEADER_WITHIN]):
        columns = tuple(
            _column(place, shown, products, said, new_products)
            for place, (shown, _) in sorted(cells.items())
        )
        if _known(columns) > _known(found):
            best, found = index, columns
    if _known(found) < _FEWEST_KNOWN:
        raise UsageError(
            f"none of the first {_HEADER_WITHIN} rows is a header: say which columns are what, "
            f"`--column M1=HEADER` and so on, for {', '.join(FIELDS)}; `--product HEADER` for "
            "measured values."
        )
    headers = {_plain(column.header) for column in found}
    for text in (*said.values(), *new_products):
        if _plain(text) not in headers:
            known = ", ".join(f"'{column.header}'" for column in found)
            raise UsageError(f"the sheet has no column '{text}'. It has: {known}.")
    taken = [column.field for column in found if column.field not in {None, "product"}]
    twice = sorted({str(field) for field in taken if taken.count(field) > 1})
    if twice:
        raise UsageError(
            f"two columns are taken for {twice[0]}: say which it is, `--column {twice[0]}=HEADER`."
        )
    return best, found


def _known(columns: Sequence[Column]) -> int:
    return sum(column.field is not None for column in columns)


def _column(
    index: int,
    header: str,
    products: Collection[str],
    said: Mapping[str, str],
    new_products: Collection[str],
) -> Column:
    unit = _UNIT.search(header)
    name = header[: unit.start()].strip() if unit else header
    shown_unit = unit[1].strip() if unit else ""
    for field, text in said.items():
        if _plain(text) == _plain(header):
            return Column(index, header, field, unit=shown_unit)
    by_name = {_plain(product): product for product in products}
    if _plain(name) in by_name:
        return Column(index, header, "product", by_name[_plain(name)], shown_unit)
    if any(_plain(text) == _plain(header) for text in new_products):
        return Column(index, header, "product", name, shown_unit)
    for field, names in FIELDS.items():
        if field not in said and _plain(name) in names:
            return Column(index, header, field, unit=shown_unit)
    return Column(index, header)


def _plain(text: str) -> str:
    """Return a header without case, width, subscripts and punctuation."""
    return _BETWEEN_WORDS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
