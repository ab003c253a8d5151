"""What a person may call a verdict, an item or a passage, and the rows of `lineage` it means."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.model import UsageError
from rag_assets.tracing.chain import Bytes, Chain, make_chain
from rag_assets.tracing.edited import tell_edits
from rag_assets.tracing.querying import open_sql
from rag_assets.tracing.recipes import find_grounds, go_on
from rag_assets.tracing.stored import read_named_rows
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SUFFIXES = (".md", ".json", ".html", ".docx", ".txt", ".markdown")
# Below it a name has nothing in common with another that a person would see (rapidfuzz ratio).
_SIMILAR = 60
_IS_PASSAGE = "kind = 'passage' AND id = $id"


def trace(workspace: Workspace, name: str) -> list[Chain]:
    """Return the chains of what `name` names, from verdict or item down to the bytes.

    Args:
        name: `<audit or pack>#<number>`; a draft, for its newest audit, with `#<row>` or
            `:<line>`; an audit, pack or draft alone, for all its rows; the id of a verdict; a
            citation id `kb:…`; `<namespace>::<chunk_id>` or a chunk id; a run of the laboratory
            alone, with `#<rank>` of a recipe, or with `#<rank>.<number>`: a chain for each
            citation of each ground.

    Raises:
        UsageError: nothing is called so; the text says what is.
        PublicationError: nothing is published.
    """
    grounds = find_grounds(workspace, name.strip())
    read = Bytes(workspace)
    with open_sql(workspace, has_knowledge=False) as connection:
        edits = tell_edits(connection)

        def chains(condition: str, values: dict[str, Any]) -> list[Chain]:
            order = "kind, output, number, chunk_id"
            query = f"SELECT * FROM lineage WHERE {condition} ORDER BY {order}"
            rows = read_named_rows(connection, query, values)
            return [make_chain(row, read, edits) for row in rows]

        if grounds is not None:
            below = {
                passage: chains(_IS_PASSAGE, {"id": passage})
                for passage in {one.passage for one in grounds}
                if passage is not None
            }
            return [each for g in grounds for each in go_on(g, below.get(g.passage or "", ()))]
        found = chains(*_condition(workspace, connection, name.strip()))
    if not found:
        raise UsageError(f"'{name}' has no such row; `rag trace {_without_row(name)}` lists them.")
    return found


def _condition(
    workspace: Workspace, connection: "DuckDBPyConnection", name: str
) -> tuple[str, dict[str, Any]]:
    if re.fullmatch(r"kb:\S+", name):
        _require(connection, "citation_id", name)
        return _IS_PASSAGE, {"id": name}
    outputs = _outputs(connection)
    head, _, number = name.rpartition("#")
    if head and number:
        output = _output_of(workspace, outputs, head)
        if output:
            return "output = $output AND label = $label", {"output": output, "label": number}
    head, _, line = name.rpartition(":")
    if head and line.isdigit():
        output = _output_of(workspace, outputs, head)
        if output:
            return "output = $output AND line = $n", {"output": output, "n": int(line)}
    output = _output_of(workspace, outputs, name)
    if output:
        return "output = $output", {"output": output}
    namespace, _, chunk = name.rpartition("::")
    found = read_named_rows(
        connection,
        "SELECT namespace, citation_id FROM standing_chunks WHERE is_current "
        "AND chunk_id = $chunk AND $namespace IN ('', namespace)",
        {"chunk": chunk, "namespace": namespace},
    )
    if len(found) > 1:
        names = ", ".join(f"{each['namespace']}::{chunk}" for each in found)
        raise UsageError(f"'{name}' stands in several namespaces: write one of {names}.")
    if found:
        return _IS_PASSAGE, {"id": found[0]["citation_id"]}
    if read_named_rows(connection, "SELECT 1 FROM ends WHERE id = $id LIMIT 1", {"id": name}):
        return "id = $id", {"id": name}
    raise UsageError(_unknown(name, outputs))


def _require(connection: "DuckDBPyConnection", column: str, value: str) -> None:
    query = f"SELECT 1 FROM standing_chunks WHERE is_current AND {column} = $value LIMIT 1"
    if not read_named_rows(connection, query, {"value": value}):
        if told := tell_edits(connection).get(value):
            raise UsageError(f"'{value}' was edited: {told}.")
        raise UsageError(
            f"no current publication holds '{value}': the passage was edited or its document "
            "removed since. Trace the verdict or item that cites it: it keeps its text and hash."
        )


def _outputs(connection: "DuckDBPyConnection") -> list[dict[str, Any]]:
    """Return every audit and pack with what it was made from, the newest version first."""
    rows = read_named_rows(
        connection,
        "SELECT DISTINCT output, kind, made_from FROM ends WHERE output IS NOT NULL",
        {},
    )
    return sorted(rows, key=lambda row: _version(row["output"]), reverse=True)


def _version(output: str) -> tuple[int, str]:
    found = re.search(r"_v(\d+)$", output)
    return (int(found[1]) if found else 0, output)


def _output_of(workspace: Workspace, outputs: list[dict[str, Any]], name: str) -> str | None:
    """Return the audit or pack that a file's name means; of a draft the newest audit: of its
    citations or, where these were never verified, of its claims.
    """
    path = Path(name)
    stem = path.name.removesuffix(path.suffix) if path.suffix in _SUFFIXES else path.name
    for row in outputs:
        if row["output"] == stem:
            return str(row["output"])
    found = [row["output"] for row in outputs if row["kind"] in {"verdict", "claim"}]
    for draft in (path.absolute(), workspace.root / path):
        if draft.is_file():
            return _newest(found, workspace.draft_stem(draft))
    for row in outputs:
        draft = Path(row["made_from"])
        if row["kind"] in {"verdict", "claim"} and path.name in {draft.name, draft.stem}:
            return str(row["output"])
    return None


def _newest(outputs: list[str], stem: str) -> str | None:
    for what in ("citations", "claims"):
        for output in outputs:
            if re.fullmatch(rf"{re.escape(stem)}_{what}_v\d+", output):
                return output
    return None


def _unknown(name: str, outputs: list[dict[str, Any]]) -> str:
    from rapidfuzz import process

    known = [row["output"] for row in outputs]
    near = [hit[0] for hit in process.extract(name, known, limit=3, score_cutoff=_SIMILAR)]
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return (
        f"nothing is called '{name}'. {hint}Give an audit or pack with its row (for instance "
        f"{known[0] if known else 'evidence_pack_v001'}#1), a draft that has been verified, a "
        'citation id (kb:…) or a chunk id; `rag sql "SELECT name FROM lineage"` lists all.'
    )


def _without_row(name: str) -> str:
    return re.sub(r"#[^#]*$|:\d+$", "", name)
