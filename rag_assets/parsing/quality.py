"""`meta/parse_quality_report.md`: how well the library was read, for a person (spec 000 §4.2)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_assets.model import RagError, count_of, escape_inline, escape_prose, table_cell
from rag_assets.parsing.registry import PARSE_REASONS
from rag_assets.parsing.stage import read_reports
from rag_assets.storage import put
from rag_assets.workspace import Inventory, Namespace, Workspace, read_inventory

_KEY = "meta/parse_quality_report.md"
# A page of running text has 1,500 to 4,000 characters; far fewer point to scans or slides.
_FEW_CHARACTERS_A_PAGE = 400
_MOST_TEMPLATES_SHOWN = 8
_COLUMNS = (
    ("pages", "pages"),
    ("characters", "characters"),
    ("language", "language"),
    ("headings", "headings"),
    ("tables", "tables"),
    ("figures", "figures"),
    ("references", "references"),
    ("textless_pages", "pages without text"),
    ("replacement_characters", "unreadable characters"),
)

_Row = Mapping[str, Any]


def write_quality_report(workspace: Workspace) -> Path:
    """Write the report over all namespaces that have been scanned, where it has changed.

    A namespace whose configuration or records cannot be read is named with the reason: it must
    not keep the others from being built.

    Returns:
        The report's path.
    """
    parts = ["# How well the library was read\n"]
    for name in workspace.namespace_names:
        try:
            namespace = workspace.namespace(name)
            inventory = read_inventory(namespace)
            parts += _describe(namespace, inventory) if inventory else ()
        except RagError as error:
            parts.append(f"## {name}\n\nIts reports cannot be read: {escape_prose(str(error))}\n")
    put(workspace.store, _KEY, ("\n".join(parts) + "\n").encode())
    return workspace.store.place(_KEY)


def _describe(namespace: Namespace, inventory: Inventory) -> Iterator[str]:
    named = sorted(_named_reports(namespace, inventory), key=lambda item: item[0])
    rows = [row for _, row in named]
    read = [row for row in rows if row["status"] == "ok"]
    pages = sum(row["pages"] for row in read)
    textless = sum(row["textless_pages"] for row in read)
    yield f"## {namespace.name}\n"
    yield f"{count_of(len(rows), 'document')}: {len(read)} read, {len(rows) - len(read)} not."
    if pages:
        yield (
            f"{count_of(pages, 'page')}, {textless} of them without text "
            f"({100 * textless / pages:.1f} %)."
        )
    treed = sum(row["headings"] > 0 for row in read)
    if read:
        yield f"{treed} of {len(read)} have headings ({100 * treed / len(read):.0f} %).\n"
        yield _totals("Formats", Counter(row["media_type"] for row in read))
        yield _totals("Languages", Counter(row["language"] or "unknown" for row in read))
    yield from _failures(named)
    yield from _doubts(named)
    yield from _table([(name, row) for name, row in named if row["status"] == "ok"])


def _named_reports(namespace: Namespace, inventory: Inventory) -> Iterator[tuple[str, _Row]]:
    for partition in namespace.partition_keys:
        living = inventory.partition(namespace, partition)
        for row in read_reports(namespace, partition, living):
            yield living[row["content_hash"]].first.source_uri, row


def _totals(what: str, counts: Counter[str]) -> str:
    listed = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return f"- {what}: {listed}"


def _failures(named: Sequence[tuple[str, _Row]]) -> Iterator[str]:
    failed = [(name, row) for name, row in named if row["status"] != "ok"]
    if not failed:
        return
    yield "\n### Not read\n"
    for code, count in sorted(Counter(row["reason_code"] for _, row in failed).items()):
        yield f"- **{code}** ({count}): {PARSE_REASONS.get(code, '')}"
        names: dict[str, list[str]] = {}
        for name, row in failed:
            if row["reason_code"] == code:
                names.setdefault(escape_prose(row["message"]), []).append(escape_inline(name))
        yield from (f"  - {', '.join(found)}: {message}" for message, found in names.items())


def _doubts(named: Sequence[tuple[str, _Row]]) -> Iterator[str]:
    doubts = [(name, list(_doubts_of(row))) for name, row in named if row["status"] == "ok"]
    if not any(sentences for _, sentences in doubts):
        return
    yield "\n### Read, with something to look at\n"
    for name, sentences in doubts:
        yield from (f"- {escape_inline(name)}: {escape_prose(sentence)}" for sentence in sentences)


def _doubts_of(row: _Row) -> Iterator[str]:
    yield from row["warnings"]
    with_text = row["pages"] - row["textless_pages"]
    if with_text and row["characters"] < _FEW_CHARACTERS_A_PAGE * with_text:
        yield (
            f"only {row['characters'] // with_text} characters a page: slides, or pages that are "
            "pictures; look at them with `rag parse show`."
        )
    templates = row["removed_templates"]
    if templates:
        shown = " | ".join(templates[:_MOST_TEMPLATES_SHOWN])
        more = len(templates) - _MOST_TEMPLATES_SHOWN
        yield f"removed as running heads and feet: {shown}" + (
            f" and {more} more" if more > 0 else ""
        )


def _table(named: Sequence[tuple[str, _Row]]) -> Iterator[str]:
    if not named:
        return
    yield "\n### Documents\n"
    yield "| document | parser | " + " | ".join(label for _, label in _COLUMNS) + " | seconds |"
    yield "| --- | --- |" + " --- |" * (len(_COLUMNS) + 1)
    for name, row in named:
        values = [row[field] for field, _ in _COLUMNS]
        cells = [str(v) if isinstance(v, int) else table_cell(str(v or "")) for v in values]
        cells = [table_cell(name), row["parser"], *cells, f"{row['seconds']:.2f}"]
        yield f"| {' | '.join(cells)} |"
    yield ""
