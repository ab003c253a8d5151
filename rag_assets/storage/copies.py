"""A file of a cache and its object: fetched where it is another, put where nobody was faster.

Beside a copy lies what is known of it: `.versions/<name>.json` has the object's version and what
the disk said of the file when it was fetched or put. Where the two do not fit (a crash between two
renames, a hand that changed the file) nothing is known, and the object is fetched. What is in
`.versions` decides no more than whether bytes are sent again.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any  # of JSON

from rag_assets.model import DamagedFileError, LockedError
from rag_assets.storage.atomic import (
    explained_errors,
    file_identity,
    sync_path,
    temporary_name,
)
from rag_assets.storage.locks import changing_folder
from rag_assets.storage.mounts import (
    Mount,
    Place,
    _Unseen,
    held,
    place_of,
    publication_of,
)

_VERSIONS = ".versions"
# How often a copy that others replace meanwhile is asked for again.
_MOST_TRIES = 100


def refresh(path: Path) -> Place | None:
    """Make a file what its object is now: fetched, left as it is, or taken away.

    Returns:
        Its place; None where it is no copy of an object, and nothing was done.

    Raises:
        StorageError: the bucket cannot be asked, or the disk refuses the write.
    """
    place = place_of(path)
    if place is None:
        publication = publication_of(path)
        if publication is not None:
            from rag_assets.storage.shipping import fetch_publication

            fetch_publication(publication)
        return None
    adopt(place.mount)
    if place.is_named and path.is_file():
        return place
    if isinstance(held.find(place), _Unseen):
        _fetch(place)
    return place


def adopt(mount: Mount) -> None:
    """Before a bucket is first asked: what the folder had before it was a cache is put there."""
    if not mount.is_adopted:
        from rag_assets.storage.adopting import adopt_files

        adopt_files(mount)


def _fetch(place: Place) -> None:
    for _ in range(_MOST_TRIES):
        known = known_version(place)
        with _beside(place.path) as temporary:
            try:
                version = place.bucket.download(place.key, temporary, known)
            except DamagedFileError:
                # Under a lease, who makes it anew replaces this one.
                found = place.bucket.find(place.key)
                held.note(place, found.version if found else None)
                raise
            if version is None or version != known:
                if version is not None:
                    sync_path(temporary)
                if not _install(place, temporary if version else None, version, known):
                    continue  # another process of this machine was faster
        held.note(place, version)
        return
    raise LockedError(
        f"{place.path}: other processes have changed it {_MOST_TRIES} times meanwhile. End what "
        "hangs, and try again."
    )


def _install(place: Place, file: Path | None, version: str | None, known: str | None) -> bool:
    """Make a file the copy, unless the copy is another than the one that was asked with."""
    if file is None and not place.path.is_file():
        return True
    with changing_folder(place.path):
        if known_version(place) != known:
            return False
        if file is None:
            place.path.unlink(missing_ok=True)
        else:
            file.replace(place.path)
            know_version(place, version)
        sync_path(place.path.parent)
    return True


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside a file; what lies there is taken away in the end."""
    with explained_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / temporary_name(path.suffix)
        try:
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)


def settle(place: Place, temporary: Path) -> None:
    """Put a file that is written whole into the bucket, and make it the copy.

    The object is replaced only if it is the one that was read: under a lease the first one read
    there, else the one that the copy is of.

    Raises:
        LockedError: another writer was faster; the object and the copy are as they were.
        StorageError: the bucket cannot be reached.
    """
    adopt(place.mount)
    if place.is_named:
        _settle_named(place, temporary)
        return
    seen = held.find(place)
    expected = known_version(place) if isinstance(seen, _Unseen) else seen
    version = place.bucket.put(place.key, temporary, expected)
    if version is None:
        raise LockedError(
            f"{place.bucket.describe(place.key)}: another process has written it since it was read "
            "here. Nothing is lost: run the command again; what is done is not done twice."
        )
    keep_copy(place, temporary, version)


def _is_same(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and digest_of(one) == digest_of(other)


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def keep_copy(place: Place, temporary: Path, version: str) -> None:
    """Make a file that was put the copy of its object."""
    held.note(place, version)
    with changing_folder(place.path):
        temporary.replace(place.path)
        if not place.is_named:
            know_version(place, version)
        sync_path(place.path.parent)


def _settle_named(place: Place, temporary: Path) -> None:
    """Put what its key names. Where another has put it, theirs is taken: all see the same bytes.

    Only where theirs is what lay here, and was found to be damaged, it is replaced.
    """
    if place.bucket.put(place.key, temporary, None) is None:
        with _beside(place.path) as theirs:
            version = place.bucket.download(place.key, theirs)
            is_damaged = version and place.path.is_file() and _is_same(theirs, place.path)
            if version is None or is_damaged:
                if place.bucket.put(place.key, temporary, version) is None:
                    raise LockedError(
                        f"{place.bucket.describe(place.key)}: another process has changed it "
                        "meanwhile. Run the command again; what is done is not done twice."
                    )
            else:
                theirs.replace(temporary)
                sync_path(temporary)
    keep_copy(place, temporary, "")


def renew(place: Place) -> None:
    """Make an object that its key names as young as if it had been put now.

    Raises:
        FileNotFoundError: there is neither an object nor a copy.
    """
    found = place.bucket.find(place.key)
    copy = place.path if place.path.is_file() else None
    if found is not None and (copy is None or copy.stat().st_size != found.size):
        copy = None
        with _beside(place.path) as theirs:
            if place.bucket.download(place.key, theirs) is not None:
                sync_path(theirs)
                keep_copy(place, theirs, "")
                copy = place.path
    if copy is None:
        raise FileNotFoundError(str(place.path))
    place.bucket.put(place.key, copy, found.version if found else None)


def remove(place: Place) -> None:
    """Take an object away, and then its copy."""
    place.bucket.delete(place.key)
    held.note(place, None)
    place.path.unlink(missing_ok=True)
    _note_of(place).unlink(missing_ok=True)


def find_named(place: Place, *, anew: bool) -> tuple[int, float] | None:
    """Return (size, time it was put) of an object that its key names; None where there is none.

    Args:
        anew: ask the bucket. Else a whole copy, or what was found once, is believed: the object
            goes only when no record names it any more.
    """
    if not anew:
        if place.path.is_file():
            stat = place.path.stat()
            return stat.st_size, stat.st_ctime
        noted = _read_note(place)
        if noted and noted.get("url") == place.mount.url and "changed_at" in noted:
            return noted["size"], noted["changed_at"]
    found = place.bucket.find(place.key)
    if found is None:
        _note_of(place).unlink(missing_ok=True)
        return None
    if not place.path.is_file():
        said = {"url": place.mount.url, "size": found.size, "changed_at": found.changed_at}
        _write_note(place, said)
    return found.size, found.changed_at


def known_version(place: Place) -> str | None:
    """Return the version that the copy has; None where there is no copy, or it is not known."""
    noted = _read_note(place)
    if noted is None or noted.get("url") != place.mount.url:
        return None
    identity = file_identity(place.path)
    if identity is None or list(identity) != noted.get("file"):
        return None
    version: str = noted["version"]
    return version


def know_version(place: Place, version: str | None) -> None:
    """Note which version of its object a copy has; call with the copy's folder locked."""
    said = {"url": place.mount.url, "version": version, "file": file_identity(place.path)}
    _write_note(place, said)


def _note_of(place: Place) -> Path:
    return place.path.parent / _VERSIONS / f"{place.path.name}.json"


def _read_note(place: Place) -> dict[str, Any] | None:
    try:
        loaded = json.loads(_note_of(place).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None  # none, or cut by a crash: then nothing is known
    return loaded if isinstance(loaded, dict) else None


def _write_note(place: Place, said: Mapping[str, object]) -> None:
    note = _note_of(place)
    with explained_errors(note):
        note.parent.mkdir(parents=True, exist_ok=True)
        temporary = note.parent / temporary_name()
        try:
            temporary.write_text(json.dumps(said), encoding="utf-8")
            temporary.replace(note)
        finally:
            temporary.unlink(missing_ok=True)
