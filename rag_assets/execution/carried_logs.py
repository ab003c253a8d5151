"""What is logged where a job is done, carried to the process that asked for it."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        # As text: neither the arguments nor a traceback survive pickling for sure.
        text = self.format(record)
        self.records.append(logging.makeLogRecord({**_plain(record), "msg": text}))


def _plain(record: logging.LogRecord) -> dict[str, object]:
    names = (
        "name",
        "levelno",
        "levelname",
        "created",
        "msecs",
        "pathname",
        "filename",
        "lineno",
        "funcName",
    )
    return {name: getattr(record, name) for name in names}


@contextmanager
def kept_logs() -> Iterator[Sequence[logging.LogRecord]]:
    """Yield a list of the warnings and errors that are logged inside the block, as plain values."""
    kept = _Kept()
    logging.getLogger().addHandler(kept)
    try:
        yield kept.records
    finally:
        logging.getLogger().removeHandler(kept)


def log_again(records: Sequence[logging.LogRecord]) -> None:
    """Log in this process what was logged in another one."""
    for record in records:
        logger = logging.getLogger(record.name)
        if logger.isEnabledFor(record.levelno):
            logger.handle(record)
