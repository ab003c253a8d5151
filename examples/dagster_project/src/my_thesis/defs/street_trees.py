"""Your own asset: it reads what the library has published."""

from pathlib import Path

import dagster as dg

from rag_assets import Workspace, query
from rag_assets.evidence import Question

PROJECT = Path(__file__).parents[3]


@dg.asset(
    deps=[dg.AssetKey(["thesis", "search_index"])],
    # Each run materializes search_index, but its data version is the name of the publication: it
    # changes only when readers see something else.
    automation_condition=dg.AutomationCondition.any_deps_match(
        dg.AutomationCondition.data_version_changed()
    ),
    group_name="my_thesis",
    kinds={"file"},
    owners=["team:thesis"],
)
def street_trees() -> dg.MaterializeResult[None]:
    """The passages that say most about street trees, each with its place: street_trees.md."""
    question = Question(question="How much cooler are streets with trees?", top_k=5)
    items = query(Workspace.open(PROJECT / "library"), question).pack.items
    lines = [f"- “{item.exact_quote}” ({item.doc_uid}, {item.locator})" for item in items]
    path = PROJECT / "street_trees.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return dg.MaterializeResult(
        metadata={"passages": len(items), "file": dg.MetadataValue.path(str(path))}
    )
