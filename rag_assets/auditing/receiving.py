"""Drafts that are dropped on the desk: a file, or the folder of a LaTeX draft as a zip."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from rag_assets.auditing.references import BIBLIOGRAPHY_SUFFIXES
from rag_assets.auditing.storing import DRAFT_SUFFIXES, list_drafts
from rag_assets.model import UsageError, hash_bytes
from rag_assets.storage import Notify, write_bytes
from rag_assets.workspace import Workspace

# What a draft reads besides itself; pictures and the like are left out of a zip.
_BESIDE = frozenset({*BIBLIOGRAPHY_SUFFIXES, ".bbl", ".sty", ".cls", ".tex"})
# A thesis has some hundred files of text; more is a mistake or an attack.
_MOST_FILES, _MOST_BYTES = 2_000, 200_000_000
_KEPT = ".replaced"


def add_drafts(
    workspace: Workspace, name: str, data: bytes, notify: Notify = lambda sentence: None
) -> tuple[str, ...]:
    """Put a file, or the files of a zip, into `drafts/`.

    A draft of that name with other content is replaced; the former one is kept in
    `drafts/.replaced/`.

    Args:
        name: of the file, without folders.

    Returns:
        The new drafts by their paths below `drafts/`, sorted; of a LaTeX folder its main file.

    Raises:
        UsageError: it is no draft, or a zip that is damaged, too large or holds none.
    """
    path = PurePosixPath(name.replace("\\", "/")).name
    suffix = Path(path).suffix.lower()
    if suffix == ".zip":
        files = dict(_unpacked(path, data))
    elif suffix in DRAFT_SUFFIXES or suffix in BIBLIOGRAPHY_SUFFIXES:
        files = {path: data}
    else:
        known = ", ".join(DRAFT_SUFFIXES)
        raise UsageError(
            f"{path} is not a draft. Drop one of {known}, or a folder as .zip. To add a source, "
            "drop it on its library."
        )
    for each, content in files.items():
        target = workspace.drafts / each
        if target.is_file() and target.read_bytes() != content:
            former = target.read_bytes()
            kept = f"{target.stem}-{hash_bytes(former)[:8]}{target.suffix}"
            write_bytes(workspace.drafts / _KEPT / kept, former)
            notify(f"{each} is replaced; the former version is kept: drafts/{_KEPT}/{kept}")
        target.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(target, content)
    found = (path.relative_to(workspace.drafts).as_posix() for path in list_drafts(workspace))
    return tuple(name for name in found if name in files)


def _unpacked(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the drafts of a zip and what they read, below a folder with the name of the zip."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            size = sum(member.file_size for member in members)
            if len(members) > _MOST_FILES or size > _MOST_BYTES:
                raise UsageError(
                    f"{name} holds {len(members)} files of {size // 1_000_000} MB. Zip the folder "
                    "of the draft alone."
                )
            for member in members:
                place = PurePosixPath(member.filename.replace("\\", "/"))
                is_outside = place.is_absolute() or ".." in place.parts
                is_hidden = any(part.startswith((".", "__")) for part in place.parts)
                suffix = place.suffix.lower()
                if is_outside or is_hidden or not (suffix in DRAFT_SUFFIXES or suffix in _BESIDE):
                    continue
                # A size that the zip lies about ends the reading, not the machine.
                with archive.open(member) as stream:
                    content = stream.read(_MOST_BYTES)
                yield (PurePosixPath(Path(name).stem) / place).as_posix(), content
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise UsageError(f"{name}: the zip cannot be read: {error}. Pack it again.") from error
