"""A sheet of experiments as it is understood: what would be imported, and what not, and why."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from rag_assets.lab.importing.columns import Cells, Column, find_columns
from rag_assets.lab.recipes import ProposedModifier, ProposedRecipe, check_recipe, find_carboxyl
from rag_assets.lab.store import Recipe
from rag_assets.model import ParseFailure, UsageError, count_of, hash_fields
from rag_assets.parsing import decode_text, read_csv_table, read_workbook
from rag_assets.settings import ParseSettings

# `Cu2Mo2–TiO2/Zr-BTB`: two symbols with their counts before the oxide.
_CATALYST = re.compile(
    r"\s*(?P<M1>[A-Z][a-z]?)(?P<n1>\d*\.?\d*)(?P<M2>[A-Z][a-z]?)(?P<n2>\d*\.?\d*)\s*[-–—/@]\s*TiO2"
    r"(?:[\s/@+&·-]|[–—⊂]|\b(?:on|in|with)\b)*(?P<host>[^\s(].*)?",
    re.ASCII,
)
_HOST = re.compile(r"(?:Zr\d*[\W_]?)?BTB\b", re.IGNORECASE)
# Frameworks are called by the letters of their makers and a number; linkers by three of their own.
_OTHER_HOST = re.compile(
    r"\b(?:UiO|MIL|ZIF|NU|PCN|DUT|MOF|IRMOF|HKUST|CAU)[-‑–]?\d+|\b(?:BDC|BTC|BPDC|TPDC|TCPP)\b"
)
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
# Each cell becomes several objects: a line of 256 MB took 19.7 GB.
_MOST_BYTES, _LONGEST_LINE = 20_000_000, 100_000
_TEXTS = ("pros", "cons", "other", "as_made")


@dataclass(frozen=True, slots=True)
class Experiment:
    """One row that can be imported.

    Args:
        row: its number in the sheet.
        run_id: by what the row says, so that the same row is never imported twice.
        values: measured value by product, as written; products without a value were not measured.
        score: None where the sheet has none: the run is stored without feedback.
        day: ISO 8601; empty where the sheet has none.
        cells: all cells of the row by header.
    """

    row: int
    run_id: str
    recipe: Recipe
    values: Mapping[str, float]
    score: float | None
    texts: Mapping[str, str]
    day: str
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that cannot be imported, and why."""

    row: int
    why: str


@dataclass(frozen=True, slots=True)
class Understood:
    """A sheet as it is understood.

    Args:
        sheet: its name; empty of a text file.
        header_row: number of the row with the headers.
    """

    file: str
    sheet: str
    header_row: int
    columns: tuple[Column, ...]
    experiments: tuple[Experiment, ...]
    refused: tuple[Refused, ...]

    @property
    def products(self) -> tuple[str, ...]:
        """Names of the products of which there are columns."""
        return tuple(column.product for column in self.columns if column.field == "product")


def read_sheet(
    path: Path,
    products: Collection[str],
    settings: ParseSettings,
    *,
    sheet: str | None = None,
    columns: Mapping[str, str] | None = None,
    new_products: Collection[str] = (),
) -> Understood:
    """Return what a sheet of experiments says. Nothing is stored.

    Args:
        path: an xlsx workbook, or a csv or tsv file.
        products: names of the catalogue.
        settings: bounds of what is read.
        sheet: which of the workbook; the only one without.
        columns: header by field of `FIELDS`, where a person says so.
        new_products: headers of products that are not in the catalogue yet.

    Raises:
        UsageError: it is no such file, or its columns cannot be told.
    """
    name, rows = _rows(path, settings, sheet)
    index, found = find_columns(rows, products, columns or {}, new_products)
    experiments: list[Experiment] = []
    refused: list[Refused] = []
    seen: Counter[str] = Counter()
    for number, cells in rows[index + 1 :]:
        row = {column: cells[column.index] for column in found if column.index in cells}
        if not any(column.field for column in row):
            continue
        try:
            experiments.append(_experiment(number, row, seen))
        except ValueError as error:
            refused.append(Refused(number, str(error)))
    return Understood(path.name, name, rows[index][0], found, tuple(experiments), tuple(refused))


def _rows(
    path: Path, settings: ParseSettings, wanted: str | None
) -> tuple[str, Sequence[tuple[int, Cells]]]:
    if (size := path.stat().st_size) > _MOST_BYTES:
        raise UsageError(
            f"{path.name} has {size} bytes; a sheet of experiments has at most {_MOST_BYTES}. "
            "Divide it into several files."
        )
    data = path.read_bytes()
    if path.suffix.casefold() in {".csv", ".tsv"}:
        return "", list(_records(decode_text(data)[0], is_tab=path.suffix.casefold() == ".tsv"))
    try:
        sheets = {sheet.name: sheet.rows for sheet in read_workbook(data, settings)}
    except ParseFailure as error:
        raise UsageError(
            f"{path}: {error.message} Experiments are read from xlsx, csv and tsv."
        ) from error
    if wanted is None and len(sheets) == 1:
        wanted = next(iter(sheets))
    if wanted not in sheets:
        named = ", ".join(f"'{name}'" for name in sheets)
        raise UsageError(
            f"{path} has {count_of(len(sheets), 'sheet')}: {named}. Say which: --sheet NAME."
        )
    return wanted, sheets[wanted]


def _records(text: str, *, is_tab: bool) -> Iterator[tuple[int, Cells]]:
    """Yield the filled records of a text with the lines on which they end.

    Raises:
        UsageError: a line is longer than a row of experiments is.
    """
    for number, content in enumerate(text.splitlines(), start=1):
        if len(content) > _LONGEST_LINE:
            raise UsageError(
                f"line {number} has {len(content)} characters; a row of experiments has at most "
                f"{_LONGEST_LINE}. Is the file a table?"
            )
    dialect = read_csv_table(text, prefer_tab=is_tab).dialect
    lines = enumerate(text.splitlines(keepends=True)[dialect.skipped_lines :], start=1)
    line = dialect.skipped_lines

    def counted() -> Iterator[str]:
        nonlocal line
        for number, content in lines:
            line = dialect.skipped_lines + number
            yield content

    for record in dialect.reader(counted()):
        cells = {n: (cell.strip(), cell.strip()) for n, cell in enumerate(record) if cell.strip()}
        if cells:
            yield line, cells


def _experiment(
    number: int, row: Mapping[Column, tuple[str, str]], seen: Counter[str]
) -> Experiment:
    """Return what a row says.

    Raises:
        ValueError: it is no experiment with a recipe; the text says why.
    """
    said = {column.field: shown for column, (shown, _) in row.items() if column.field}
    metals = _metals(said)
    modifier = said.get("modifier", "").strip()
    if not modifier:
        raise ValueError("no small-molecule modifier is named")
    values = {
        column.product: _number(column, full)
        for column, (_, full) in row.items()
        if column.field == "product"
    }
    score = [_number(column, full) for column, (_, full) in row.items() if column.field == "score"]
    if score and not values:
        raise ValueError("it has a score, but no product was measured")
    cells = {column.header: shown for column, (shown, _) in row.items()}
    # The same row twice in a sheet is a replicate of its own.
    key = hash_fields(sorted(cells.items()))[:12]
    seen[key] += 1
    again = f"-{seen[key]}" if seen[key] > 1 else ""
    recipe = _recipe(metals, modifier, said)
    texts = {name: said.get(name, "") for name in _TEXTS}
    day = _day(said.get("date"))
    return Experiment(
        number, f"imported-{key}{again}", recipe, values, score[0] if score else None, texts, day,
        cells,
    )  # fmt: skip


def _metals(said: Mapping[str, str]) -> dict[str, str]:
    """Return both metals and their ratio, from columns of their own or from the formula."""
    catalyst = said.get("catalyst", "").translate(_SUBSCRIPTS)
    found = _CATALYST.match(catalyst)
    first, second = said.get("M1"), said.get("M2")
    ratio = said.get("ratio", "").replace("/", ":")
    other = _OTHER_HOST.search(catalyst)
    hosts = [said.get("linker", ""), (found and found["host"]) or "", other[0] if other else ""]
    if found is not None:
        first, second = first or found["M1"], second or found["M2"]
        ratio = ratio or f"{found['n1'] or 1}:{found['n2'] or 1}"
    for host in map(str.strip, hosts):
        if host and not _HOST.match(host):
            raise ValueError(f"its host is '{host}', and the host of every recipe here is Zr-BTB")
    if not first or not second:
        raise ValueError(
            "two metals cannot be told"
            + (f" from '{said['catalyst']}'" if "catalyst" in said else "")
        )
    if not ratio:
        raise ValueError("no atomic ratio is given")
    return {"M1": first.strip(), "M2": second.strip(), "atomic_ratio": ratio.strip()}


def _recipe(metals: Mapping[str, str], modifier: str, said: Mapping[str, str]) -> Recipe:
    """Return a row's recipe, held against the rules of the system as any other is."""
    proposed = ProposedRecipe(
        **metals, small_molecule_modifier=ProposedModifier(name=modifier, smiles=said.get("smiles"))
    )
    try:
        found = check_recipe(proposed, (), find_carboxyl)
    except UsageError as error:
        raise ValueError(str(error)) from None
    # Nobody proposed it, so that nobody owes grounds.
    return found.model_copy(update={"grounds": ()})


def _number(column: Column, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"'{text}' under '{column.header}' is no number") from None
    if number - number != 0 or (column.field == "product" and number < 0):
        raise ValueError(f"'{text}' under '{column.header}' is no measured value")
    return number


def _day(text: str | None) -> str:
    if text is None:
        return ""
    try:
        return date.fromisoformat(text.strip()[:10]).isoformat()
    except ValueError:
        raise ValueError(f"'{text}' is no date such as 2024-05-31") from None
