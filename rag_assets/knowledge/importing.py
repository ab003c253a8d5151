"""Bibliographies of the user: copied into the workspace, with the files that their entries name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rag_assets.auditing import open_published
from rag_assets.auditing.library import References
from rag_assets.auditing.pairing import Pairing
from rag_assets.auditing.references import BIBLIOGRAPHY_SUFFIXES, Entry, read_bibliography
from rag_assets.knowledge.adding import add_content, add_file, read_uri, sidecar_of
from rag_assets.model import UsageError
from rag_assets.storage import explained_errors, write_bytes
from rag_assets.workspace import SIDECAR_SUFFIX, Namespace, Workspace

# What is preferred where an entry names several files: a web page is a copy of the other one.
_PREFERRED = (".pdf", ".epub", ".docx")


@dataclass(frozen=True, slots=True)
class ImportedBibliography:
    """A bibliography file that lies in the workspace now.

    Args:
        source: as it was given.
        path: in `bibliographies/`.
        is_replaced: a file of this name with other content was there before.
        entries: each with the document that it means; None where nothing is published yet.
        added: files that were copied into raw/; `known` those that were there already.
        missing: a sentence for each file that is named and could not be added.
    """

    source: Path
    path: Path
    is_replaced: bool
    entries: tuple[tuple[Entry, Pairing | None], ...]
    added: tuple[Path, ...] = ()
    known: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()


def import_bibliographies(
    workspace: Workspace, paths: Sequence[Path], *, files_into: Namespace | None = None
) -> list[ImportedBibliography]:
    """Copy BibTeX, CSL-JSON, RIS and Zotero RDF files into `bibliographies/`, and read them.

    A file of the same name is replaced, as an export that is made again.

    Args:
        paths: of files, or of a folder that Zotero has exported with its files.
        files_into: a namespace; the file that an entry names is copied into its raw folder with a
            sidecar (title, authors, year, DOI, citation key), by which the entry finds it again.

    Raises:
        UsageError: a file is no bibliography or has no entries; nothing was copied then.
        StorageError: the disk is full or refuses the write.
    """
    sources = [source for path in paths for source in _sources_of(path)]
    read = [(source, read_bibliography(source)) for source in sources]
    for source, entries in read:
        if not entries:
            raise UsageError(
                f"{source} has no entries. Export it again as BibTeX, CSL-JSON or RIS."
            )
    imported = []
    for source, entries in read:
        target, data = workspace.bibliographies / source.name, source.read_bytes()
        before = target.read_bytes() if target.is_file() else data
        with explained_errors(target):
            workspace.bibliographies.mkdir(exist_ok=True)
            write_bytes(target, data)
        found: Any = [], [], []
        if files_into is not None:
            found = _add_files(files_into, source, entries)
        pairs = tuple((entry, None) for entry in entries)
        imported.append(
            ImportedBibliography(source, target, before != data, pairs, *map(tuple, found))
        )
    return _paired(workspace, imported)


def _sources_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.suffix.lower() in BIBLIOGRAPHY_SUFFIXES)
    if not found:
        raise UsageError(
            f"{path} has no bibliography. Give a folder with one of "
            f"{', '.join(BIBLIOGRAPHY_SUFFIXES)}, as Zotero exports it with “Export Files”."
        )
    return found


def _paired(
    workspace: Workspace, imported: Sequence[ImportedBibliography]
) -> list[ImportedBibliography]:
    with open_published(workspace) as library:
        if not library.publications:
            return list(imported)
        made = []
        for one in imported:
            references = References([entry for entry, _ in one.entries], library)
            pairs = tuple(
                (entry, references.pairing(number)) for number, (entry, _) in enumerate(one.entries)
            )
            made.append(
                ImportedBibliography(
                    one.source, one.path, one.is_replaced, pairs, one.added, one.known, one.missing
                )
            )
        return made


def _add_files(
    namespace: Namespace, source: Path, entries: Sequence[Entry]
) -> tuple[list[Path], list[Path], list[str]]:
    """Copy the file of each entry into raw/, where it is not there yet."""
    added: list[Path] = []
    known: list[Path] = []
    missing: list[str] = []
    parse = namespace.settings.parse
    for entry in entries:
        if not entry.attachments:
            continue
        paths = [found for name in entry.attachments if (found := _find(source.parent, name))]
        paths.sort(key=lambda path: path.suffix.lower() not in _PREFERRED)
        if not paths:
            missing.append(f"{entry.label}: {entry.attachments[0]} is not there.")
            continue
        try:
            fetched = read_uri(
                str(paths[0]),
                max_megabytes=parse.max_megabytes,
                max_seconds=parse.seconds_per_document,
            )
            # Where the entry stops at `et al.`, the names that the file prints are more.
            people = () if " et al" in entry.text else entry.people or entry.authors
            fields: dict[str, Any] = {
                "title": entry.title, "authors": tuple(people), "doi": entry.doi,
                "citation_key": entry.label if not entry.label.isdigit() else "",
                "year": int(entry.year[:4]) if entry.year[:4].isdigit() else None,
            }  # fmt: skip
            metadata = {name: value for name, value in fields.items() if value}
            uri = f"{source.name}: {entry.attachments[0]}"
            there = _same_in_raw(namespace, fetched.data)
            if there is None:
                there = add_content(namespace, fetched.data, fetched.name, uri, metadata).path
                added.append(there)
                continue
            sidecar = there.with_name(there.name + SIDECAR_SUFFIX)
            # What somebody has written of a file stays as it is.
            if not sidecar.exists():
                add_file(sidecar, sidecar_of(uri, metadata).encode())
            known.append(there)
        except UsageError as error:
            missing.append(f"{entry.label}: {error}")
    return added, known, missing


def _find(folder: Path, name: str) -> Path | None:
    """Return an attachment, written as a path from the bibliography's folder or a whole one."""
    tried = (folder / Path(each).expanduser() for each in dict.fromkeys((name, unquote(name))))
    return next((path for path in tried if path.is_file()), None)


def _same_in_raw(namespace: Namespace, data: bytes) -> Path | None:
    for root in namespace.roots:
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
                return path
    return None
