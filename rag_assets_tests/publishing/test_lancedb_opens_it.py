"""A publication is an ordinary Lance dataset: LanceDB itself opens it and finds the same rows."""

import json
import subprocess
import sys
from pathlib import Path

from rag_assets.publishing.search import SearchTable
from rag_assets.storage import current_folder
from rag_assets_tests.libraries import build, make_workspace

FILES = {
    "evidence/roofs.md": "# Roofs\n\nPlanted roofs stay cool. Bitumen roofs grow hot at noon.\n",
    "evidence/树.md": "# 行道树\n\n树冠覆盖率高的街道在夜间气温偏高。\n",
    "instruction/guidance/rubric.md": "# Rubric\n\nName the hour of the day.\n",
}

# In a process of its own: lancedb starts threads, and importing it costs every later test.
SCRIPT = """
import json, sys
import lancedb
table = lancedb.connect(sys.argv[1]).open_table("chunks")
rows = table.search().limit(table.count_rows()).to_arrow()
found = table.search("bitumen", query_type="fts").limit(5).to_list()
vectors = rows.column("vector").to_pylist()
nearest = table.search(vectors[0]).limit(1).to_list()
print(json.dumps({
    "rows": rows.select(["chunk_id", "text", "citable", "citation_id", "vector"]).to_pylist(),
    "columns": rows.schema.names,
    "bitumen": [row["doc_uid"] for row in found],
    "nearest": nearest[0]["text"],
}))
"""


def test_lancedb_opens_a_publication_and_finds_the_same_rows(tmp_path: Path) -> None:
    namespace = make_workspace(tmp_path, FILES).namespace("thesis")
    build(namespace)
    folder = current_folder(namespace.publications, namespace.name)
    seen = json.loads(
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, check=True
        ).stdout
    )
    table = SearchTable(folder).fetch()
    names = ["chunk_id", "text", "citable", "citation_id", "vector"]
    ours = table.select(names).to_pylist()
    assert len(ours) >= 3
    assert sorted(seen["rows"], key=lambda row: row["chunk_id"]) == sorted(
        ours, key=lambda row: row["chunk_id"]
    )
    assert seen["columns"] == table.schema.names
    assert seen["bitumen"] == ["roofs"]
    assert seen["nearest"] == seen["rows"][0]["text"]
