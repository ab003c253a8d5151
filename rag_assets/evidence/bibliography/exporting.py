"""Which documents a pack or an audit uses, and their references written beside it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any  # Any: JSON of packs, rows of DuckDB

from rag_assets.evidence.bibliography.formats import (
    render_bibtex,
    render_csl,
    render_markdown,
    render_ris,
)
from rag_assets.evidence.bibliography.keys import with_distinct_keys
from rag_assets.evidence.bibliography.reference import Reference, make_reference
from rag_assets.evidence.pack import READABLE_SCHEMAS, pack_from_json
from rag_assets.model import UsageError
from rag_assets.publishing.catalogue import catalogue_name, open_catalogue, read_table
from rag_assets.storage import (
    current_folder,
    find_versions,
    read_json,
    read_pointer,
    write_version,
)
from rag_assets.workspace import Workspace

Notify = Callable[[str], None]

# By the name that the command line uses: the suffix of the file.
FORMATS = {"markdown": ".md", "csl": ".json", "bibtex": ".bib", "ris": ".ris"}

# What an audit offers beside what the draft cites.
_NOT_USED = ("counter", "suggest", "nearest")

# (namespace, doc_uid); the namespace is empty where an audit does not say it.
DocumentKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ExportedSources:
    """References and where they lie.

    Args:
        used_by: name of the pack or audit.
        files: by suffix.
        is_new: False where the same files stood there already.
        notes: sentences a person should know.
    """

    used_by: str
    references: tuple[Reference, ...]
    files: Mapping[str, Path]
    is_new: bool
    notes: tuple[str, ...]


def export_used_sources(
    workspace: Workspace,
    path: Path | None = None,
    *,
    formats: Sequence[str] = (),
    notify: Notify = lambda sentence: None,
) -> ExportedSources:
    """Write the references of the documents that a pack or an audit uses.

    Title, authors, year, DOI and the rest are those of today's publication, so that a sidecar or
    an override that was added since counts; for a document that is not published any more, those
    that the pack was made with.

    Args:
        workspace: that holds the publications.
        path: of a pack (any of its files) or of an audit's JSON; without, the latest pack.
        formats: names of `FORMATS`; without, all.
        notify: is told where another process is writing.

    Returns:
        Files `outputs/used_sources_v###.*`; where the last version holds the same, that one.

    Raises:
        UsageError: no pack; not a pack or audit; it uses nothing; a document that nothing knows.
        DamagedFileError: the file is not what was written.
    """
    data = _json_of(path) if path is not None else latest_pack(workspace)
    loaded = read_json(data, "evidence pack or audit")
    known, pairs = _used(loaded, data)
    if not pairs:
        raise UsageError(f"{data}: it uses no source. Name another pack or audit, or ask again.")
    return export_references(
        workspace, data.stem, pairs, known=known, formats=formats, notify=notify
    )


def export_references(
    workspace: Workspace,
    used_by: str,
    pairs: Iterable[tuple[DocumentKey, str]],
    *,
    known: Mapping[DocumentKey, Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
    formats: Sequence[str] = (),
    notify: Notify = lambda sentence: None,
) -> ExportedSources:
    """Write the references of documents, as `export_used_sources` does.

    Args:
        used_by: what uses them, for people.
        pairs: of a document and where it is used in it, in the order of the references; the place
            is empty where none is named.
        known: what is known of documents that are not published any more.
        notes: sentences a person should know, to which others are added.

    Raises:
        UsageError: a document that nothing knows.
    """
    used: dict[DocumentKey, tuple[str, ...]] = {}
    for key, locator in pairs:
        before = used.get(key, ())
        used[key] = before if not locator or locator in before else (*before, locator)
    rows, unpublished = _rows(workspace, known or {}, used, used_by)
    references, shared = with_distinct_keys(
        [make_reference(rows[key], where) for key, where in used.items()]
    )
    notes = (*notes, *unpublished, *shared)
    suffixes = [FORMATS[name] for name in formats or FORMATS]
    texts = {
        ".md": render_markdown(references, used_by, notes),
        ".json": render_csl(references),
        ".bib": render_bibtex(references),
        ".ris": render_ris(references),
    }
    texts = {suffix: texts[suffix] for suffix in suffixes}
    stored = _stored(workspace, texts)
    if stored is not None:
        return ExportedSources(used_by, references, stored, False, notes)
    written = write_version(
        workspace.outputs,
        "used_sources",
        texts,
        workspace.meta / "version_log.jsonl",
        workspace.locks / "outputs.lock",
        f"sources of {used_by}",
        notify,
    )
    return ExportedSources(used_by, references, written.files, True, notes)


def latest_pack(workspace: Workspace) -> Path:
    """Return the JSON file of the pack with the highest number.

    Raises:
        UsageError: there is none.
    """
    found = find_versions(workspace.outputs, "evidence_pack", ".json")
    if not found:
        raise UsageError(
            f"{workspace.outputs} holds no evidence pack. Make one with `rag query`, or name an "
            "audit's JSON."
        )
    return found[-1][1]


def _json_of(path: Path) -> Path:
    data = path.with_suffix(".json")
    if not data.is_file():
        found = f"{data.name} beside it is missing" if path.exists() else "there is no such file"
        raise UsageError(
            f"{path}: {found}. Name a draft (.md, .txt, .docx), or a pack or an audit below "
            "outputs/."
        )
    return data


def _used(
    loaded: Mapping[str, Any], data: Path
) -> tuple[dict[DocumentKey, Mapping[str, Any]], list[tuple[DocumentKey, str]]]:
    """Return what the file itself knows of documents, and those that it uses with locators."""
    schema = str(loaded.get("schema"))
    known: dict[DocumentKey, Mapping[str, Any]] = {}
    if schema in READABLE_SCHEMAS:
        pack = pack_from_json(loaded)
        known = {(one.namespace, one.doc_uid): asdict(one) for one in pack.sources}
        pairs = [((item.namespace, item.doc_uid), item.locator) for item in pack.items]
    elif schema.startswith("rag-assets/") and "audit" in schema:
        pairs = list(dict.fromkeys(_cited(loaded)))
    else:
        raise UsageError(
            f"{data}: neither an evidence pack of this version nor an audit (schema {schema}). "
            "Ask the question again, or audit the draft again."
        )
    return known, pairs


def _cited(value: Any, namespace: str = "") -> Iterator[tuple[DocumentKey, str]]:
    """Yield every document that an audit names, wherever it names it, unless it is an error."""
    if isinstance(value, Mapping):
        if value.get("status") == "ERROR":
            return
        namespace = str(value.get("namespace") or namespace)
        if value.get("doc_uid"):
            yield (namespace, str(value["doc_uid"])), str(value.get("locator") or "")
        for name, one in value.items():
            if not name.startswith(_NOT_USED):
                yield from _cited(one, namespace)
    elif isinstance(value, list):
        for one in value:
            yield from _cited(one, namespace)


def _rows(
    workspace: Workspace,
    known: Mapping[DocumentKey, Mapping[str, Any]],
    used: Mapping[DocumentKey, tuple[str, ...]],
    used_by: str,
) -> tuple[dict[DocumentKey, Mapping[str, Any]], tuple[str, ...]]:
    published = {
        (row["namespace"], row["doc_uid"]): row
        for name in workspace.namespace_names
        for row in _published(workspace, name, {uid for _, uid in used})
    }
    rows: dict[DocumentKey, Mapping[str, Any]] = {}
    notes = []
    for key in used:
        namespace, uid = key
        anywhere = [row for (_, one), row in published.items() if one == uid]
        if key in published:
            rows[key] = published[key]
        elif not namespace and len(anywhere) == 1:
            rows[key] = anywhere[0]
        elif key in known:
            rows[key] = known[key]
            notes.append(
                f"`{uid}` is not published in '{namespace}' any more: its reference is what the "
                "pack was made with."
            )
        else:
            raise UsageError(
                f"{used_by} uses '{uid}', which no current publication holds. `rag documents` "
                "lists what is there; `rag ingest` publishes what is in raw/."
            )
        homes = [row["namespace"] for row in anywhere if row["citable"]]
        own = rows[key]["namespace"]
        rows[key] = {**rows[key], "cite_as": f"{own}:{uid}" if set(homes) - {own} else uid}
    return rows, tuple(notes)


def _published(workspace: Workspace, name: str, uids: set[str]) -> list[dict[str, Any]]:
    folder = workspace.namespace(name).publications
    if read_pointer(folder) is None:
        return []
    found = current_folder(folder, name)
    connection = open_catalogue(found / catalogue_name(found.name))
    try:
        rows: list[dict[str, Any]] = read_table(
            connection, "documents", "doc_uid", sorted(uids)
        ).to_pylist()
    finally:
        connection.close()
    return rows


def _stored(workspace: Workspace, texts: Mapping[str, str]) -> dict[str, Path] | None:
    """Return the files of the last version where they hold the same."""
    found = {s: find_versions(workspace.outputs, "used_sources", s) for s in texts}
    if not all(found.values()) or len({versions[-1][0] for versions in found.values()}) != 1:
        return None
    files = {suffix: versions[-1][1] for suffix, versions in found.items()}
    same = all(files[s].read_text(encoding="utf-8") == text for s, text in texts.items())
    return files if same else None
