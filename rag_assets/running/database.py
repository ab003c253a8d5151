"""Dagster's history in Postgres: what a workspace needs for it, and what is said of a failure."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import yaml

from rag_assets.model import ConfigurationError, StorageError
from rag_assets.workspace import ENVIRONMENT_FILE, Workspace, find_secret

if TYPE_CHECKING:
    import dagster as dg

# What the shipped file for a team asks the environment for begins so.
PREFIX = "DAGSTER_PG_"
_PASSWORD = f"{PREFIX}PASSWORD"
# Of one statement; a server that is stuck must not hold a command for ever.
_STATEMENT_MILLISECONDS = 600_000
_KEEP_CONNECTION_SECONDS = 3600
_MOST_FURTHER_CONNECTIONS = 20


@contextmanager
def reachable_database(workspace: Workspace) -> Iterator[None]:
    """Say what is missing before the workspace's Postgres is opened, and when it does not answer.

    Nothing is done where the history lies in files.

    Raises:
        ConfigurationError: the extra is not installed, or the environment does not say where the
            database is.
        StorageError: it does not answer, or refuses.
    """
    config = _postgres_config(workspace)
    if config is None:
        yield
        return
    # Imported here: every run comes by, and what calls services takes time to import.
    from rag_assets.services import hide, missing_extra

    if find_spec("dagster_postgres") is None:
        raise missing_extra("postgres", "Dagster's history in Postgres")
    lacking = [name for name in _asked_of_environment(config) if not os.environ.get(name)]
    if lacking:
        raise ConfigurationError(
            f"{workspace.dagster_home / 'dagster.yaml'} keeps Dagster's history in Postgres and "
            f"asks for {', '.join(lacking)}, which nothing sets. Write NAME=value lines into "
            f"{workspace.root / ENVIRONMENT_FILE} (or set them in the environment)."
        )
    from sqlalchemy.exc import OperationalError

    unanswered: Any = import_module("dagster_postgres.utils").DagsterPostgresException
    try:
        yield
    except (OperationalError, unanswered) as error:
        cause = error if isinstance(error, OperationalError) else error.__cause__
        told = " ".join(str(getattr(cause, "orig", None) or cause or error).split())
        raise StorageError(
            f"Dagster's history cannot be reached in Postgres ({hide(told, find_secret(_PASSWORD))}"
            f"). Is the server running, and are {PREFIX}HOST, {PREFIX}PORT, {PREFIX}DB, "
            f"{PREFIX}USERNAME and {_PASSWORD} right? Then run the command again: what was "
            "computed is kept."
        ) from error


@contextmanager
def kept_connections(instance: "dg.DagsterInstance") -> Iterator[None]:
    """Let the storages of a Postgres keep their connections, as Dagster's own web server does.

    Dagster opens one for each of its statements: 775 in a small run, at half of the processor's
    time. Nothing is done where the history lies in files.
    """
    storages: list[Any] = [
        instance.run_storage, instance.event_log_storage, instance.schedule_storage,
    ]  # fmt: skip
    kept = [one for one in storages if type(one).__module__.startswith("dagster_postgres.")]
    for storage in kept:
        storage.optimize_for_webserver(
            statement_timeout=_STATEMENT_MILLISECONDS,
            pool_recycle=_KEEP_CONNECTION_SECONDS,
            max_overflow=_MOST_FURTHER_CONNECTIONS,
        )
    try:
        yield
    finally:
        for storage in kept:
            storage._engine.dispose()


def _postgres_config(workspace: Workspace) -> object | None:
    """Return what the workspace's dagster.yaml says of Postgres; None where it names none."""
    try:
        text = (workspace.dagster_home / "dagster.yaml").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        loaded = yaml.safe_load(text)
    except yaml.YAMLError:
        return None  # Dagster says what is wrong with it
    storage = loaded.get("storage") if isinstance(loaded, dict) else None
    return storage.get("postgres") if isinstance(storage, dict) else None


def _asked_of_environment(config: object) -> list[str]:
    if not isinstance(config, dict):
        return []
    if set(config) == {"env"}:
        return [str(config["env"])]
    return [name for value in config.values() for name in _asked_of_environment(value)]
