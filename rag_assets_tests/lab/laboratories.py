"""Laboratories for tests: a workspace whose model knows words only, runs, products, forms."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from rag_assets.lab.feedback import FeedbackForm, Strategy
from rag_assets.lab.laboratory import Laboratory, init_laboratory, open_laboratory
from rag_assets.lab.products import add_product
from rag_assets.lab.runs import Modifier, Recipe, Run, record_run
from rag_assets.workspace import Workspace

AT = "2026-03-01T09:00:00+00:00"
PRODUCTS = ("C2H4", "CH4", "CO")


def make_workspace(root: Path, settings: Mapping[str, Any] | None = None) -> Workspace:
    """Return a workspace without namespaces, embedding by words."""
    (root / "namespaces").mkdir(parents=True)
    values = {"embed": {"kind": "hashing"}, **(settings or {})}
    (root / "config.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    return Workspace.open(root)


def make_laboratory(root: Path, settings: Mapping[str, Any] | None = None) -> Laboratory:
    """Return a laboratory with three products and no run."""
    workspace = make_workspace(root, settings)
    init_laboratory(workspace)
    lab = open_laboratory(Workspace.open(root))
    with lab.store.writing(AT, "ana") as writing:
        for name in PRODUCTS:
            add_product(writing, name)
    return lab


def recipe(rank: int = 1, **changes: Any) -> Recipe:
    values = {"M1": "Cu", "M2": "Mo", "atomic_ratio": "1:1", "rank": rank,
              "small_molecule_modifier": Modifier(name="glycine")}  # fmt: skip
    return Recipe(**{**values, **changes})


def run_of(run_id: str, recipes: int = 2, **changes: Any) -> Run:
    values = {"id": run_id, "kind": "model", "state": "done", "created_at": AT,
              "request": {"target": "C2H4"},
              "recipes": tuple(recipe(rank) for rank in range(1, recipes + 1))}  # fmt: skip
    return Run(**{**values, **changes})


def put_run(lab: Laboratory, run_id: str, **changes: Any) -> Run:
    run = run_of(run_id, **changes)
    with lab.store.writing(AT, "program") as writing:
        record_run(writing, run)
    return run


def product_ids(lab: Laboratory) -> dict[str, str]:
    from rag_assets.lab.products import list_products

    with lab.store.reading() as reading:
        return {one.name: one.id for one in list_products(reading, deleted=True)}


def form(lab: Laboratory, score: float = 7.0, **values: Any) -> FeedbackForm:
    """Return a form: `C2H4=3.0` is a measured value, everything else a field."""
    ids = product_ids(lab)
    measured = {ids[name]: values.pop(name) for name in list(values) if name in ids}
    return FeedbackForm(score, measured or {ids["C2H4"]: 3.0, ids["CO"]: 1.0}, **values)


NO_METHOD3 = Strategy(use_method3=False)


def stored(lab: Laboratory) -> str:
    """Return all that the store holds, as text."""
    return "\n".join(lab.store.export())
