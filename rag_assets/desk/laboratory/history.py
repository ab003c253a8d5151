"""All feedback as a table and as files; experiments of before from a sheet, seen before stored."""

from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.jobs import Job
from rag_assets.desk.laboratory.shared import LabOf, OpenLab, download, status_of
from rag_assets.desk.laboratory.sheets import to_csv, to_xlsx
from rag_assets.desk.rendering import page, say
from rag_assets.desk.state import FormOf, text_of
from rag_assets.lab import (
    FIELDS,
    HistoryRow,
    Understood,
    import_experiments,
    list_history,
    list_products,
    read_sheet,
)
from rag_assets.lab.recipes import formula
from rag_assets.model import Cell, RagError, UsageError

router = APIRouter(prefix="/history")
KIND = "import"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@dataclass(frozen=True)
class Said:
    """What a person says of a sheet: its name, headers by field, headers of new products."""

    sheet: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    products: str = ""

    @property
    def by_field(self) -> dict[str, str]:
        """The header of each field that was said."""
        return {name: header for name, header in self.columns if header.strip()}


@router.get("")
def show(request: Request, open_lab: LabOf, products: str = "") -> Response:
    """Show what experiments gave, the newest first, of all sets of products or of one."""
    rows = list_history(open_lab.lab)
    sets = sorted({row.set_name for row in rows})
    shown = [row for row in rows if not products or row.set_name == products]
    return page(
        request,
        "lab/history.html",
        rows=shown,
        sets=sets,
        chosen=products,
        count=len(rows),
        formula=formula,
    )


@router.get("/history.csv")
def as_csv(open_lab: LabOf) -> Response:
    """Return the history as CSV."""
    return download(to_csv(_cells(list_history(open_lab.lab))), "text/csv", "history.csv")


@router.get("/history.xlsx")
def as_xlsx(open_lab: LabOf) -> Response:
    """Return the history as a workbook."""
    return download(to_xlsx(_cells(list_history(open_lab.lab))), _XLSX, "history.xlsx")


@router.get("/import")
def choose(request: Request) -> Response:
    """Ask for a sheet."""
    return page(request, "lab/import.html", trouble="")


@router.post("/import")
async def bring(request: Request, open_lab: LabOf, form: FormOf) -> Response:
    """Take a sheet and lead to what is understood of it; nothing is stored."""
    brought = form.get("file")
    if not isinstance(brought, UploadFile) or not brought.filename:
        trouble = say(request, "Choose a file first.")
        return page(request, "lab/import.html", 400, trouble=trouble)
    try:
        key = open_lab.brought.keep(brought.filename, await brought.read())
    except UsageError as error:
        return page(request, "lab/import.html", 400, trouble=str(error))
    return RedirectResponse(f"/lab/history/import/{key}", 303)


@router.get("/import/{key}")
def look(request: Request, open_lab: LabOf, key: str) -> Response:
    """Show what is understood of a sheet."""
    return _understood_page(request, open_lab, key, Said())


@router.post("/import/{key}")
def store(request: Request, open_lab: LabOf, key: str, form: FormOf) -> Response:
    """Look again by what is said of the columns, or store what is understood."""
    said = _said(form)
    if text_of(form, "do") != "store":
        return _understood_page(request, open_lab, key, said)
    try:
        understood = _understand(open_lab, _path(open_lab, key), said)
    except RagError:
        return _understood_page(request, open_lab, key, said)
    learn = bool(text_of(form, "learn"))
    begins = say(request, "The experiments are stored.")

    def work(job: Job) -> str:
        job.tell(begins)
        import_experiments(
            open_lab.lab, understood, at=open_lab.now(), by=open_lab.person, learn=learn
        )
        return "/lab/history"

    return open_lab.follow(KIND, work)


def _understood_page(request: Request, open_lab: OpenLab, key: str, said: Said) -> Response:
    path = _path(open_lab, key)
    understood, trouble, status = None, "", 200
    try:
        understood = _understand(open_lab, path, said)
    except RagError as error:
        trouble, status = str(error), status_of(error)
    return page(
        request, "lab/understood.html", status, understood=understood, trouble=trouble, key=key,
        said=said, file=path.name, fields=tuple(FIELDS),
    )  # fmt: skip


def _understand(open_lab: OpenLab, path: Path, said: Said) -> Understood:
    with open_lab.lab.store.reading() as reading:
        known = [one.name for one in list_products(reading)]
    new = [line.strip() for line in said.products.splitlines() if line.strip()]
    return read_sheet(
        path, known, open_lab.lab.workspace.settings.parse, sheet=said.sheet or None,
        columns=said.by_field, new_products=new,
    )  # fmt: skip


def _path(open_lab: OpenLab, key: str) -> Path:
    path = open_lab.brought.find(key)
    if path is None:
        raise HTTPException(404, "This file is not kept any more: choose it again.")
    return path


def _said(form: FormData) -> Said:
    columns = tuple((name, text_of(form, f"column-{name}")) for name in FIELDS)
    return Said(text_of(form, "sheet").strip(), columns, text_of(form, "products"))


def _cells(rows: list[HistoryRow]) -> list[list[Cell]]:
    names = sorted({name for row in rows for name, _, _ in row.products})
    head: list[Cell] = ["run", "kind", "given at", "recipe", "as made", "score"]
    head += [part for name in names for part in (name, f"{name} fraction")]
    head += ["pros", "cons", "other"]
    cells = [head]
    for row in rows:
        measured = {name: (value, fraction) for name, value, fraction in row.products}
        line: list[Cell] = [
            row.run_id,
            row.kind,
            row.given_at,
            formula(row.recipe),
            row.as_made,
            row.score,
        ]
        for name in names:
            line += measured.get(name, (None, None))
        cells.append([*line, row.pros, row.cons, row.other])
    return cells
