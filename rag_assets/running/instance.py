"""The Dagster instance of a workspace, and its definitions."""

import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rag_assets.model import ConfigurationError, DiskFullError, StorageError
from rag_assets.storage import explained_errors, hold_lock
from rag_assets.workspace import (
    ENVIRONMENT_FILE,
    Workspace,
    correct_environment,
    environment_of,
    find_secret,
    lend_environment,
)

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
    from rag_assets.llm.services import hide, missing_extra

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


_log = logging.getLogger(__name__)

# An open instance is the whole process's: it is found by the environment, a run sets up Python's
# logging, and SQLAlchemy is told how to connect. Two threads at once would block each other.
_ONE_AT_A_TIME = threading.RLock()
# In Dagster's home, by its storages' own names.
_WRITTEN_BY_RUNS = ("event_log.db", "history/runs.db")
# Pages of 4,096 bytes; SQLite's own 1,000 are 4 MB for each database.
_LOG_PAGES = 128


def prepare_environment(workspace: Workspace) -> None:
    """Point this process, and those it starts, at the workspace and its Dagster home.

    Dagster prefers what `.env` says, and in a folder that was moved or copied that is the place
    where the workspace was made: it is corrected, and told.
    """
    for name, old in correct_environment(workspace).items():
        _log.warning("%s: %s named %s; corrected", workspace.root / ENVIRONMENT_FILE, name, old)
    os.environ.update(environment_of(workspace))
    # Dagster reads the environment alone, and `.env` only where its own commands are run there.
    lend_environment(workspace, PREFIX)
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")


@contextmanager
def own_environment(workspace: Workspace) -> Iterator[None]:
    """Let the environment be this workspace's, and no other thread's work need another."""
    with _ONE_AT_A_TIME:
        prepare_environment(workspace)
        yield


@contextmanager
def open_instance(workspace: Workspace) -> "Iterator[dg.DagsterInstance]":
    """Yield the workspace's Dagster instance; other threads of this process wait for their turn.

    Raises:
        StorageError: its SQLite files cannot be read or written, for instance on a full disk; or
            its Postgres does not answer.
        ConfigurationError: Postgres is asked for, and something that it needs is missing.
    """
    import dagster as dg
    from sqlalchemy.exc import OperationalError

    home = workspace.dagster_home
    try:
        with own_environment(workspace), explained_errors(home), reachable_database(workspace):
            # Two processes that meet an empty history would both write its first version.
            with hold_lock(workspace.locks / "dagster.lock", "Dagster's run history", _log.info):
                opened = dg.DagsterInstance.get()
            with (
                opened as instance,
                _kept_open(home),
                _one_engine(instance),
                kept_connections(instance),
            ):
                yield instance
    except OperationalError as error:
        if "readonly" in str(error.orig):
            raise StorageError(
                f"{home}: Dagster's run history cannot be written ({error.orig}). Give this user "
                "write permission on that folder and its files, or mount its disk for writing, "
                "and run the command again."
            ) from error
        raise DiskFullError(
            f"{home}: Dagster's run history cannot be written ({error.orig}). Is the disk full?"
        ) from error


@contextmanager
def _kept_open(home: Path) -> Iterator[None]:
    """Hold the databases that a run writes open, each with one connection that does nothing.

    Dagster opens and closes them for each of some hundred events. Whoever closes an SQLite database
    last copies its log back, waits for the disk twice and removes the log; with another connection
    open an event waits for the disk once, as it must.
    """
    from sqlalchemy import Engine, NullPool, create_engine, event

    event.listen(Engine, "connect", _keep_log_small)
    try:
        with ExitStack() as stack:
            for name in _WRITTEN_BY_RUNS:
                path = home / name
                if path.is_file():
                    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
                    connection = stack.enter_context(engine.connect())
                    # SQLite opens a file when it is first read.
                    connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
            yield
    finally:
        event.remove(Engine, "connect", _keep_log_small)


@contextmanager
def _one_engine(instance: "dg.DagsterInstance") -> Iterator[None]:
    """Let the event log keep its connections and what SQLAlchemy knows of its database.

    Dagster makes an engine and opens a connection for each of its statements, so that each is
    compiled again: a third of the processor's time of a run. It looks for a table that is there as
    often.
    """
    from dagster._core.storage.event_log import ConsolidatedSqliteEventLogStorage
    from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
    from sqlalchemy import QueuePool, create_engine

    storage: Any = instance.event_log_storage
    if not isinstance(storage, ConsolidatedSqliteEventLogStorage):
        yield  # a Dagster of one's own may have another kind
        return
    timeout = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
    engine = create_engine(storage._conn_string, poolclass=QueuePool, connect_args=timeout)

    @contextmanager
    def connect() -> Iterator[Any]:
        with engine.connect() as connection, connection.begin():
            yield connection

    held: Any = storage
    before = held._connect, held.has_table
    held._connect, held.has_table = connect, cache(held.has_table)
    try:
        yield
    finally:
        # Whoever still tells something opens one for itself.
        held._connect, held.has_table = before
        engine.dispose()


def _keep_log_small(connection: Any, _record: object) -> None:
    """Let a log that nobody closes be copied back before it takes room on a disk that has none.

    Nor does each event wait for the disk: what a run told in the seconds before a power cut is lost
    with it. A killed process loses nothing, and files, journals and records wait for themselves.
    """
    if isinstance(connection, sqlite3.Connection):  # a Dagster of one's own may have another kind
        connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
        connection.execute("PRAGMA synchronous=NORMAL")


@cache
def load_definitions(workspace: Workspace) -> "dg.Definitions":
    """Return the definitions of a workspace: the same that the UI loads."""
    prepare_environment(workspace)
    from rag_assets.definitions import build_definitions

    return build_definitions(workspace)
