"""Who made something: the run, the code's version and the configuration of that moment.

Provenance, never content: no digest covers it and nothing is decided by it. An asset says who it
is for as long as it works; what is computed meanwhile is signed where it is stored.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

# The key of a signature in an entry's note, a publication's manifest and the version log.
SIGNATURE = "made_by"


@dataclass(frozen=True, slots=True)
class Maker:
    """Who is at work.

    Args:
        run_id: Dagster's id of the run.
        code_version: of the stage, as Dagster shows it.
        config_hash: SHA-256 of the settings and overrides that a build depends on.
        tool_version: of the package.
    """

    run_id: str
    code_version: str
    config_hash: str
    tool_version: str


_at_work: ContextVar[Maker | None] = ContextVar("maker_at_work", default=None)


@contextmanager
def working_as(maker: Maker) -> Iterator[None]:
    """Sign with `maker` whatever is stored inside the block."""
    token = _at_work.set(maker)
    try:
        yield
    finally:
        _at_work.reset(token)


def signature() -> dict[str, dict[str, str]]:
    """Return `{"made_by": {run_id, code_version, config_hash, tool_version, at}}`.

    Empty where nobody has said who works: what a library call makes is not signed.
    """
    maker = _at_work.get()
    if maker is None:
        return {}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {SIGNATURE: {**asdict(maker), "at": now}}
