"""All feedback as a table and as files; experiments of before from a sheet."""

from pathlib import PurePosixPath

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.responses import Response

from rag_assets.desk.jobs import Job
from rag_assets.desk.laboratory.shared import LabOf, download, status_of
from rag_assets.desk.laboratory.sheets import to_csv, to_xlsx
from rag_assets.desk.rendering import page, say
from rag_assets.desk.state import FormOf, text_of
from rag_assets.lab.importing import import_experiments, read_sheet
from rag_assets.lab.products import list_products
from rag_assets.lab.recipes import formula
from rag_assets.lab.teaching import HistoryRow, list_history
from rag_assets.model import Cell, RagError

router = APIRouter(prefix="/history")
KIND = "import"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


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
    return page(request, "lab/import.html", understood=None, trouble="")


@router.post("/import")
async def bring(request: Request, open_lab: LabOf, form: FormOf) -> Response:
    """Show what is understood of a sheet, or store it."""
    brought = form.get("file")
    if not isinstance(brought, UploadFile) or not brought.filename:
        trouble = say(request, "Choose a file first.")
        return page(request, "lab/import.html", 400, understood=None, trouble=trouble)
    name = PurePosixPath(brought.filename.replace("\\", "/")).name
    with open_lab.lab.store.reading() as reading:
        known = [one.name for one in list_products(reading)]
    sheet = text_of(form, "sheet").strip() or None
    try:
        understood = read_sheet(
            name, await brought.read(), known, open_lab.lab.workspace.settings.parse, sheet
        )
    except RagError as error:
        return page(
            request, "lab/import.html", status_of(error), understood=None, trouble=str(error)
        )
    if text_of(form, "do") != "store":
        return page(request, "lab/import.html", understood=understood, trouble="")
    learn = bool(text_of(form, "learn"))
    begins = say(request, "The experiments are stored.")

    def work(job: Job) -> str:
        job.tell(begins)
        import_experiments(
            open_lab.lab, understood, at=open_lab.now(), by=open_lab.person, learn=learn
        )
        return "/lab/history"

    return open_lab.follow(KIND, work)


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
