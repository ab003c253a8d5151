"""The page of the second opinion: what past experiments expect, and the next ones to make."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from rag_assets.desk.laboratory.shared import LabOf, status_of
from rag_assets.desk.rendering import page
from rag_assets.lab.opinion import FEWEST_RECIPES, By, form_opinion
from rag_assets.lab.products import list_products
from rag_assets.model import RagError

router = APIRouter(prefix="/suggest")
_SUGGESTED = 3


@router.get("")
def show(
    request: Request, open_lab: LabOf, product: str = "", by: By | None = None
) -> Response:  # fmt: skip
    """Show the form, and once it is sent, the opinion."""
    with open_lab.lab.store.reading() as reading:
        products = [one.name for one in list_products(reading)]
    opinion, trouble, status = None, "", 200
    try:
        if by is not None:
            opinion = form_opinion(open_lab.lab, product=product or None, by=by, count=_SUGGESTED)
    except RagError as error:
        trouble, status = str(error), status_of(error)
    return page(
        request, "lab/suggest.html", status, products=products, product=product,
        by=by or "fraction", opinion=opinion, trouble=trouble, fewest=FEWEST_RECIPES,
    )  # fmt: skip
