"""A random sample of a namespace's raw files, balanced by folder and size, for a test vault."""

import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path, PurePosixPath

from rag_assets.model import UsageError, hash_fields
from rag_assets.workspace import SIDECAR_SUFFIX, Namespace, SourceFile, require_inventory

# Size classes of a folder: its smallest third of files, the middle one, the largest.
_CLASSES = 3


def draw_files(files: Iterable[SourceFile], count: int, seed: int) -> list[SourceFile]:
    """Return files drawn at random, by path; the same for the same files, count and seed.

    Every folder gives as many as every other until it has none left, and within a folder every
    third of its files by size. The order of `files` does not matter.

    Raises:
        UsageError: there are fewer than `count`.
    """
    by_folder: dict[PurePosixPath, list[SourceFile]] = defaultdict(list)
    for file in files:
        by_folder[PurePosixPath(file.source_uri).parent].append(file)
    there = sum(map(len, by_folder.values()))
    if there < count:
        raise UsageError(f"there are {there} files to draw from, fewer than {count}.")

    def shuffled(items: Iterable[SourceFile]) -> list[SourceFile]:
        return sorted(items, key=lambda file: hash_fields(seed, file.source_uri))

    folders = [
        list(_in_turn([shuffled(part) for part in _thirds(held)])) for held in by_folder.values()
    ]
    # Whose turn it is first matters where not every folder gets the last round.
    folders.sort(key=lambda held: hash_fields(seed, held[0].source_uri))
    drawn = list(_in_turn(folders))[:count]
    return sorted(drawn, key=lambda file: file.source_uri)


def _thirds(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Yield the files of a folder by size, the smallest third first."""
    by_size = sorted(files, key=lambda file: (file.size, file.source_uri))
    for part in range(_CLASSES):
        yield by_size[part * len(files) // _CLASSES : (part + 1) * len(files) // _CLASSES]


def _in_turn(lists: Sequence[Sequence[SourceFile]]) -> Iterator[SourceFile]:
    """Yield the first of each list, then the second of each, and so on."""
    return (file for file in chain.from_iterable(zip_longest(*lists)) if file is not None)


def draw_sample(namespace: Namespace, count: int, seed: int) -> list[SourceFile]:
    """Return a sample of the files that the last inventory of a namespace found.

    Raises:
        UsageError: it was not scanned, or has fewer files.
    """
    found = require_inventory(namespace).sources
    return draw_files((one for one in found if one.status == "ok"), count, seed)


def copy_sample(namespace: Namespace, drawn: Sequence[SourceFile], target: Path) -> None:
    """Copy files with their sidecars into a folder, each to its path below the raw folder.

    Raises:
        UsageError: a file cannot be read, or something of its name is there already.
    """
    pairs = [(Path(one.file), target / _below_root(namespace, one)) for one in drawn]
    taken = next((path for _, path in pairs if path.exists()), None)
    if taken is not None:
        raise UsageError(f"{taken} is there already; name an empty folder.")
    for source, path in pairs:
        path.parent.mkdir(parents=True, exist_ok=True)
        sidecar = source.with_name(source.name + SIDECAR_SUFFIX)
        try:
            shutil.copyfile(source, path)
            if sidecar.is_file():
                shutil.copyfile(sidecar, path.with_name(path.name + SIDECAR_SUFFIX))
        except OSError as error:
            raise UsageError(
                f"{source} cannot be copied to {path} ({error.strerror}); scan again if it is gone."
            ) from error


def _below_root(namespace: Namespace, file: SourceFile) -> str:
    """Return a file's path below its raw folder; with several raw folders below their names."""
    root = namespace.root_of(file.source_uri)
    if root is None or len(namespace.root_names) > 1:
        return file.source_uri
    return file.source_uri.removeprefix(f"{root}/")
