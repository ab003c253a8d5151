"""The store's tables as this version of the package wants them."""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.schema import CreateTable

from rag_assets.lab.store.tables import METADATA, OWNERS
from rag_assets.model import DamagedFileError, hash_text

# The newest migration in `migrations/versions/`; a test holds that it is.
HEAD = "0001"


def current_revision(connection: Connection) -> str | None:
    """Return the migration that a store has come to; None for an empty file."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def upgrade(connection: Connection, path: Path) -> None:
    """Bring the events' tables to `HEAD`, within the transaction of the connection.

    Raises:
        DamagedFileError: a newer version of the package wrote the store.
    """
    revision = current_revision(connection)
    if revision == HEAD:
        return
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise DamagedFileError(
            f"{path}: its tables are those of migration '{revision}', which this version of "
            "rag-assets does not know. A newer version wrote it: install that one."
        ) from error


def projections_digest() -> str:
    """Return the digest of how projections are declared: another one, and they are folded anew."""
    from sqlalchemy.dialects import sqlite

    dialect = sqlite.dialect()
    declared = [str(CreateTable(table).compile(dialect=dialect)) for table in OWNERS]
    return hash_text("\n".join(declared))


def recreate_projections(connection: Connection) -> None:
    """Drop all projections and make them empty."""
    METADATA.drop_all(connection, tables=list(OWNERS), checkfirst=True)
    METADATA.create_all(connection, tables=list(OWNERS), checkfirst=False)


def engine_of(path: Path) -> Engine:
    """Return the engine over a store's file: WAL, every commit on disk, keys checked."""
    from sqlalchemy import create_engine, event

    engine = create_engine(f"sqlite:///{path}")

    @event.listens_for(engine, "connect")
    def _prepare(connection, _record):  # type: ignore[no-untyped-def]
        # Transactions are begun below, as what they are for.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


# Of a connection that writes: it waits for its turn at once, and not in the middle of its work.
WRITES = "lab_writes"
# How long a writer waits for others: four of them, a thousand writes each, wait for less.
BUSY_MILLISECONDS = 120_000
