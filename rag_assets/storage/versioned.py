"""Outputs for people: numbered, never overwritten, each entered in the version log."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rag_assets.model import DamagedFileError, hash_bytes
from rag_assets.storage.files import Notify, hold_lock, replace_file, trouble_of_machine, write_text
from rag_assets.storage.records import signature
from rag_assets.storage.store import LocalStore, put

# Ends the hidden file that stands while the files of a version are renamed into place.
_BEGUN = ".begun"


@dataclass(frozen=True, slots=True)
class VersionedOutput:
    """A numbered output. `files` by suffix, for instance `.md` and `.json`."""

    version: int
    files: Mapping[str, Path]


def find_versions(folder: Path, stem: str, suffix: str) -> list[tuple[int, Path]]:
    """Return (number, path) of every version of an output, oldest first."""
    pattern = re.compile(rf"{re.escape(stem)}_v(\d{{3,}}){re.escape(suffix)}")
    found = []
    for path in folder.glob(f"*{suffix}") if folder.is_dir() else ():
        match = pattern.fullmatch(path.name)
        if match:
            found.append((int(match[1]), path))
    return sorted(found)


def write_version(
    folder: Path,
    stem: str,
    texts: Mapping[str, str],
    log: Path,
    lock: Path,
    reason: str,
    notify: Notify,
) -> VersionedOutput:
    """Write the next version of an output and enter it in the log, complete or not at all.

    All files are written beside their places before the first is renamed. What a process that
    died between two renames left is taken away, or entered in the log where nothing is missing,
    by the next to write into that folder. The last of `texts` appears last: where it stands, the
    others stand.

    Args:
        texts: content by suffix.
        log: `meta/version_log.jsonl`.
        reason: why there is a new version, for the log.

    Raises:
        StorageError: the disk is full or refuses the write; no file of the version stands.
    """
    with hold_lock(lock, f"versions of {stem}", notify):
        finish_versions(folder, log)
        version = max(_used_numbers(folder, stem), default=0) + 1
        files = {suffix: folder / f"{stem}_v{version:03d}{suffix}" for suffix in texts}
        before = f"v{version - 1:03d}" if version > 1 else None
        entry = _log_entry(
            log,
            {files[suffix]: hash_bytes(text.encode()) for suffix, text in texts.items()},
            before,
            f"v{version:03d}",
            reason,
        )
        begun = folder / f".{stem}_v{version:03d}{_BEGUN}"
        write_text(begun, json.dumps(entry, ensure_ascii=False))
        try:
            with ExitStack() as stack:
                # The stack ends from its top: the last of `texts` lies at its bottom.
                for suffix in reversed(tuple(texts)):
                    temporary = stack.enter_context(replace_file(files[suffix]))
                    temporary.write_bytes(texts[suffix].encode())
            append_log(log, entry)
        except BaseException:
            for path in files.values():
                path.unlink(missing_ok=True)
            begun.unlink(missing_ok=True)
            raise
        begun.unlink()
    return VersionedOutput(version, files)


def finish_versions(folder: Path, log: Path) -> tuple[str, ...]:
    """End what processes that died have begun in a folder of outputs; call with its lock held.

    Returns:
        The names of the files that were taken away: parts of versions that never were complete.
    """
    removed: list[str] = []
    for begun in sorted(folder.glob(f".*{_BEGUN}")):
        try:
            entry = json.loads(begun.read_text(encoding="utf-8"))
            files = [folder / Path(name).name for name in entry["sha256"]]
        except (ValueError, KeyError, TypeError):
            continue  # not ours: what we write appears whole
        if all(path.is_file() for path in files):
            if files[0] not in written_hashes(log, log.parent.parent):
                append_log(log, entry)
        else:
            present = [path for path in files if path.is_file()]
            for path in present:
                path.unlink()
            removed += [path.name for path in present]
        begun.unlink()
    return tuple(removed)


def add_to_version(
    path: Path, text: str, log: Path, lock: Path, reason: str, notify: Notify
) -> bool:
    """Write one more file of a version that stands there, and enter it in the log.

    Args:
        path: `<stem>_v###<suffix>`.
        text: its content.
        log, lock, reason: as `write_version`.

    Returns:
        False where the file is there already: then nothing is written.
    """
    with hold_lock(lock, f"versions of {path.name}", notify):
        if path.exists():
            return False
        write_text(path, text)
        version = path.stem.rpartition("_")[2]
        append_log(
            log, _log_entry(log, {path: hash_bytes(text.encode())}, version, version, reason)
        )
    return True


def _used_numbers(folder: Path, stem: str) -> list[int]:
    """Return the numbers of an output of which any file stands there."""
    pattern = re.compile(rf"{re.escape(stem)}_v(\d{{3,}})\.\w+")
    names = (path.name for path in folder.iterdir()) if folder.is_dir() else ()
    return [int(match[1]) for match in map(pattern.fullmatch, names) if match]


def written_hashes(log: Path, root: Path) -> dict[Path, str]:
    """Return the SHA-256 that each file of an output had when it was written.

    Args:
        log: `meta/version_log.jsonl`; its lines of before hashes were entered have none.
        root: the workspace, to which the log's paths are relative.
    """
    found: dict[Path, str] = {}
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    for line in lines:
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # cut by a crash; the next line is whole
            continue
        if isinstance(entry.get("sha256"), dict):
            folder = root / Path(entry["file"]).parent
            found |= {folder / name: str(value) for name, value in entry["sha256"].items()}
    return found


def _log_entry(
    log: Path, hashes: Mapping[Path, str], before: str | None, after: str, reason: str
) -> dict[str, object]:
    return {
        "file": next(iter(hashes)).relative_to(log.parent.parent).as_posix(),
        "from": before,
        "to": after,
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "reason": reason,
        "sha256": {file.name: digest for file, digest in hashes.items()},
        **signature(),
    }


def append_log(path: Path, entry: Mapping[str, object]) -> None:
    """Append one line to a log of JSON lines; call with its lock held."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(entry, ensure_ascii=False) + "\n"
    with path.open("ab+") as handle:
        if handle.tell():
            handle.seek(-1, 2)
            if handle.read(1) != b"\n":  # a crash cut the line before: leave it, begin a new one
                line = "\n" + line
        handle.write(line.encode("utf-8"))


def read_json(path: Path, what: str) -> dict[str, object]:
    """Return an output that was written as JSON.

    Raises:
        DamagedFileError: not what was written; `what` names it for the reader.
        StorageError: the machine cannot read it now.
    """
    return _decoded(path, path.read_bytes, what)


def find_json(store: LocalStore, key: str, what: str) -> dict[str, object] | None:
    """Return a value that was written as JSON, None where there is none; else as `read_json`."""
    found = store.get(key)
    return None if found is None else _decoded(store.place(key), lambda: found.data, what)


def put_json(store: LocalStore, key: str, value: Mapping[str, object]) -> None:
    """Give a key a value for `find_json`, whatever it has."""
    put(store, key, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())


def _decoded(path: Path, read: Callable[[], bytes], what: str) -> dict[str, object]:
    try:
        loaded = json.loads(read().decode("utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, MemoryError, ValueError, RecursionError) as error:
        raise trouble_of_machine(error, path) or DamagedFileError(
            f"{path}: this {what} is damaged ({error}). Delete the file and make it again."
        ) from error
    if not isinstance(loaded, dict):
        raise DamagedFileError(f"{path}: not a {what}.")
    return loaded
