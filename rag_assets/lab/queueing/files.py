"""Requests as files: `requests/*.yaml`, each key of which is one run."""

from collections.abc import Iterator
from pathlib import Path

from rag_assets.lab.opening import Laboratory
from rag_assets.lab.queueing.queue import queue_again
from rag_assets.lab.queueing.requests import (
    RecipeRequest,
    parse_request,
    queue_run,
    request_slug,
)
from rag_assets.lab.store import Run, list_runs
from rag_assets.model import UsageError
from rag_assets.workspace import Workspace
from rag_assets.workspace.bounded_yaml import read_yaml

FOLDER = "requests"


def list_request_files(workspace: Workspace) -> list[Path]:
    """Return the request files of a workspace, by name."""
    return sorted((workspace.root / FOLDER).glob("*.yaml"))


def read_request(path: Path) -> RecipeRequest:
    """Return the request of a file: `text`, `n`, `recipes_per_run`, `policy`, `temperature`.

    Raises:
        UsageError: a key is missing, unknown or wrong.
        ConfigurationError: it is not YAML.
    """
    values = read_yaml(path)
    if not isinstance(values, dict):
        raise UsageError(f"{path.name}: a request is a mapping with the key 'text'.")
    return parse_request(values, path.name)


def keys_of(request: RecipeRequest) -> tuple[str, ...]:
    """Return the ids of the runs of a request file: `<slug>-<digest>-r1` and so on."""
    name = request_slug(request)
    return tuple(f"{name}-r{number}" for number in range(1, request.n + 1))


def requested_keys(workspace: Workspace, troubles: list[str]) -> Iterator[tuple[str, Path]]:
    """Yield each run that a file asks for, with the file.

    Args:
        troubles: is told of files that cannot be read; they harm no other.
    """
    for path in list_request_files(workspace):
        try:
            yield from ((key, path) for key in keys_of(read_request(path)))
        except (UsageError, ValueError) as error:
            troubles.append(str(error))


def queue_key(lab: Laboratory, key: str, *, at: str, by: str) -> Run:
    """Return the run of a key, queued if it was not made yet or came to nothing.

    Raises:
        UsageError: no file asks for it any more, and it was never made.
        ConfigurationError: a base or a model is missing.
    """
    with lab.store.reading() as reading:
        known = {run.id: run for run, _ in list_runs(reading)}
    found = known.get(key)
    if found is not None:
        is_over = found.state in {"failed", "canceled"}
        return queue_again(lab, key, at=at, by=by) if is_over else found
    for path in list_request_files(lab.workspace):
        request = read_request(path)
        if key in keys_of(request):
            return queue_run(lab, key, request, keys_of(request).index(key) + 1, at=at, by=by)
    raise UsageError(f"no file in {FOLDER}/ asks for '{key}' any more: it was edited or removed.")
