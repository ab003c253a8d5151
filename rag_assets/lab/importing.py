"""Sheets, each row of which becomes an imported run with its feedback; exports with traces.

A replay takes everything from the trace of a run, so that the calls kept beside it need not travel.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from rag_assets.lab.chemistry import find_carboxyl
from rag_assets.lab.feedback import FeedbackForm, Strategy, find_feedback
from rag_assets.lab.laboratory import Laboratory
from rag_assets.lab.products import list_products, product_key
from rag_assets.lab.queue import runs_folder, trace_file
from rag_assets.lab.recipes import ProposedModifier, ProposedRecipe, check_recipe
from rag_assets.lab.runs import Recipe, Run, list_runs, record_run
from rag_assets.lab.store import Reading
from rag_assets.lab.teaching import give_feedback
from rag_assets.model import ParseFailure, UsageError, count_of, hash_fields
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing import decode_text, read_csv_table, read_workbook
from rag_assets.storage import write_text

_ATTEMPT = re.compile(r"\w[\w.\-]*/attempt-\d+")
# What a column may be, with the headers by which it is known.
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
# The header is near the top, and has at least so many columns that are known.
_HEADER_WITHIN, _FEWEST_KNOWN = 20, 2
_UNIT = re.compile(r"[(\[（【]([^)\]）】]*)[)\]）】]\s*$")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
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
# Number of a row, and what its cells show and hold in full, by column.
_Row = tuple[int, Mapping[int, tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Args:
        header: as the sheet has it.
        field: of `FIELDS`, or `product`; None where it is kept and not used.
        product: its name in the catalogue.
        unit: what is in brackets behind the header; kept, never converted.
    """

    header: str
    field: str | None
    product: str = ""
    unit: str = ""


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
    texts: Mapping[str, Any]
    day: str
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Understood:
    """A sheet as it is understood.

    Args:
        sheet: its name; empty of a text file.
        header_row: number of the row with the headers.
        refused: number of each row that cannot be imported, and why.
    """

    file: str
    sheet: str
    header_row: int
    columns: tuple[Column, ...]
    experiments: tuple[Experiment, ...]
    refused: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """What was stored.

    Args:
        runs: ids of the new runs, in the order of the rows.
        known: how many were there already, and were left as they are.
        without_feedback: of the new runs, those without a score.
    """

    runs: tuple[str, ...]
    known: int
    without_feedback: int


def read_sheet(
    name: str, data: bytes, products: Collection[str], settings: ParseSettings,
    sheet: str | None = None,
) -> Understood:  # fmt: skip
    """Return what a sheet of experiments says. Nothing is stored.

    Args:
        name: of its file; `data` an xlsx workbook, or csv or tsv text.
        products: names of the catalogue.
        settings: bounds of what is read.
        sheet: which of the workbook; the only one without.

    Raises:
        UsageError: it is no such file, or none of its rows is a header.
    """
    found, rows = _rows(name, data, settings, sheet)
    by_name = {product_key(product): product for product in products}
    by_name |= {_plain(product): product for product in products}
    best, header = -1, dict[int, Column]()
    for index, (_, cells) in enumerate(rows[:_HEADER_WITHIN]):
        columns = {place: _column(shown, by_name) for place, (shown, _) in sorted(cells.items())}
        if _count_known(columns) > _count_known(header):
            best, header = index, columns
    if _count_known(header) < _FEWEST_KNOWN:
        known = ", ".join(names[0] for names in FIELDS.values())
        raise UsageError(
            f"none of the first {_HEADER_WITHIN} rows is a header. Known headers are {known}, and "
            "the names of products; `rag lab edit` adds one."
        )
    fields = Counter(one.field for one in header.values() if one.field not in {None, "product"})
    twice = [field for field, count in fields.items() if count > 1]
    if twice:
        raise UsageError(f"two columns are taken for {twice[0]}: give one another header.")
    experiments: list[Experiment] = []
    refused: list[tuple[int, str]] = []
    seen: Counter[str] = Counter()
    for number, cells in rows[best + 1 :]:
        row = {column: cells[place] for place, column in header.items() if place in cells}
        if any(column.field for column in row):
            try:
                experiments.append(_experiment(number, row, seen))
            except ValueError as error:
                refused.append((number, str(error)))
    return Understood(
        name, found, rows[best][0], tuple(header.values()), tuple(experiments), tuple(refused)
    )


def _count_known(columns: Mapping[int, Column]) -> int:
    return sum(column.field is not None for column in columns.values())


def _column(header: str, products: Mapping[str, str]) -> Column:
    unit = _UNIT.search(header)
    name = _plain(header[: unit.start()] if unit else header)
    if product := products.get(name) or products.get(product_key(name)):
        return Column(header, "product", product, unit[1].strip() if unit else "")
    return Column(header, next((field for field, names in FIELDS.items() if name in names), None))


def _plain(text: str) -> str:
    """Return a header without case, width, subscripts and punctuation."""
    return _BETWEEN_WORDS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _rows(
    name: str, data: bytes, settings: ParseSettings, wanted: str | None
) -> tuple[str, Sequence[_Row]]:
    if len(data) > _MOST_BYTES:
        raise UsageError(
            f"{name} has {len(data)} bytes; a sheet of experiments has at most {_MOST_BYTES}. "
            "Divide it into several files."
        )
    ending = name.casefold().rpartition(".")[2]
    if ending in {"csv", "tsv"}:
        return "", list(_records(decode_text(data)[0], is_tab=ending == "tsv"))
    try:
        sheets = {sheet.name: sheet.rows for sheet in read_workbook(data, settings)}
    except ParseFailure as error:
        raise UsageError(
            f"{name}: {error.message} Experiments are read from xlsx, csv and tsv."
        ) from error
    if wanted is None and len(sheets) == 1:
        wanted = next(iter(sheets))
    if wanted not in sheets:
        named = ", ".join(f"'{name}'" for name in sheets)
        raise UsageError(
            f"{name} has {count_of(len(sheets), 'sheet')}: {named}. Say which: --sheet NAME."
        )
    return wanted, sheets[wanted]


def _records(text: str, *, is_tab: bool) -> Iterator[_Row]:
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
    records: Any = dialect.reader(text.splitlines(keepends=True)[dialect.skipped_lines :])
    for record in records:
        cells = {n: (cell.strip(), cell.strip()) for n, cell in enumerate(record) if cell.strip()}
        if cells:
            yield dialect.skipped_lines + records.line_num, cells


def _experiment(
    number: int, row: Mapping[Column, tuple[str, str]], seen: Counter[str]
) -> Experiment:
    """Return what a row says.

    Raises:
        ValueError: it is no experiment with a recipe; the text says why.
    """
    said = {column.field: shown for column, (shown, _) in row.items() if column.field}
    modifier = said.get("modifier", "").strip()
    metals = _metals(said)
    if not modifier:
        raise ValueError("no small-molecule modifier is named")
    numbers = {
        column: _number(column, full)
        for column, (_, full) in row.items() if column.field in {"product", "score"}
    }  # fmt: skip
    values = {one.product: number for one, number in numbers.items() if one.field == "product"}
    score = next((number for one, number in numbers.items() if one.field == "score"), None)
    if score is not None and not values:
        raise ValueError("it has a score, but no product was measured")
    # Held against the rules of the system as any other recipe is.
    proposed = ProposedRecipe(
        **metals, small_molecule_modifier=ProposedModifier(name=modifier, smiles=said.get("smiles"))
    )
    recipe = check_recipe(proposed, (), find_carboxyl)
    day = said.get("date", "").strip()[:10]
    try:
        day = date.fromisoformat(day).isoformat() if day else ""
    except ValueError:
        raise ValueError(f"'{said['date']}' is no date such as 2024-05-31") from None
    cells = {column.header: shown for column, (shown, _) in row.items()}
    # The same row twice in a sheet is a replicate.
    key = hash_fields(sorted(cells.items()))[:12]
    seen[key] += 1
    again = f"-{seen[key]}" if seen[key] > 1 else ""
    return Experiment(
        # Nobody proposed it, so that nobody owes grounds.
        number, f"imported-{key}{again}", recipe.model_copy(update={"grounds": ()}), values, score,
        {name: said.get(name, "") for name in _TEXTS}, day, cells,
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


def _number(column: Column, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"'{text}' under '{column.header}' is no number") from None
    if number - number != 0 or (column.field == "product" and number < 0):
        raise ValueError(f"'{text}' under '{column.header}' is no measured value")
    return number


def import_experiments(
    lab: Laboratory, understood: Understood, *, at: str, by: str, learn: bool
) -> Imported:
    """Store every experiment of a sheet that is not there yet.

    A run and its feedback are two transactions: what a kill left without feedback is given it by
    the next import of the same sheet.

    Args:
        at: now, ISO 8601 with zone; `by` who imports.
        learn: whether what the sheet says of them teaches.

    Raises:
        LanguageModelError: what teaches could not be asked; what was stored until then stays.
    """
    with lab.store.reading() as reading:
        ids = {product.name: product.id for product in list_products(reading)}
        known = {run.id for run, _ in list_runs(reading)}
        judged = {run for run in known if find_feedback(reading, run) is not None}
    strategy = Strategy(use_method3=lab.settings.comparison.method3)
    units = {column.product: column.unit for column in understood.columns if column.unit}
    for one in understood.experiments:
        if one.run_id not in known:
            request: dict[str, Any] = {
                "file": understood.file, "sheet": understood.sheet, "row": one.row,
                "cells": dict(one.cells), "values": dict(one.values), "units": units,
                "day": one.day,
            }  # fmt: skip
            with lab.store.writing(at, by) as writing:
                record_run(writing, Run(
                    id=one.run_id, kind="imported", state="done", created_at=at,
                    request=request, recipes=(one.recipe,),
                ))  # fmt: skip
        if one.score is not None and one.run_id not in judged:
            values = {ids[name]: value for name, value in one.values.items()}
            form = FeedbackForm(one.score, values, **one.texts)
            give_feedback(lab, one.run_id, form, strategy, at=at, by=by, learn=learn)
    fresh = [one for one in understood.experiments if one.run_id not in known]
    return Imported(
        tuple(one.run_id for one in fresh), len(understood.experiments) - len(fresh),
        sum(one.score is None for one in fresh),
    )  # fmt: skip


def export_laboratory(lab: Laboratory) -> list[str]:
    """Return every row and the trace of every attempt at a run as lines of JSON."""
    rows, folder = list(lab.store.export()), runs_folder(lab.workspace)
    found = map(json.loads, rows)
    return rows + [
        json.dumps({"trace": path.parent.relative_to(folder).as_posix(),
                    "text": path.read_text("utf-8")}, ensure_ascii=False)
        for each in found if each["table"] == "runs"
        for path in sorted(folder.glob(f"{each['row']['id']}/attempt-*/trace.jsonl"))
    ]  # fmt: skip


def import_laboratory(lab: Laboratory, lines: Iterable[str]) -> int:
    """Put an export with its traces into an empty laboratory, all of it or nothing; return how
    much.

    Raises:
        UsageError: it is not empty, a line is none of an export, or another trace lies in the way.
    """
    written: list[Path] = []

    def place(reading: Reading, traces: Sequence[Mapping[str, Any]]) -> None:
        runs = {row["id"] for row in reading.rows("runs")}
        for each in traces:
            path = runs_folder(lab.workspace) / each["trace"] / "trace.jsonl"
            if not _ATTEMPT.fullmatch(each["trace"]) or path.parent.parent.name not in runs:
                raise UsageError(f"no run is called '{each['trace']}'. Nothing was imported.")
            if not path.exists():
                written.append(path)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_text(path, each["text"])
            # A kill before the end of an import leaves traces and no row.
            elif path.read_text(encoding="utf-8") != each["text"]:
                raise UsageError(
                    f"{path}: another trace is there. Move it away. Nothing was imported."
                )

    try:
        return lab.store.restore(lines, place)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def without_trace(lab: Laboratory) -> list[str]:
    """Return the runs that ended with a trace which is not there: they cannot be made again."""
    with lab.store.reading() as reading:
        ended = [run for run, _ in list_runs(reading) if run.trace is not None]
    return [run.id for run in ended if not trace_file(lab.workspace, run).is_file()]
