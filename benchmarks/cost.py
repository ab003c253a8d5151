"""What a library costs by its size: processor hours, gigabytes, dollars, seconds until it is found.

    python -m benchmarks.cost

It prints the tables of docs/scale.md. The constants are what one build of each kind of document
took; the rows are that many times as much. No row was built. Seconds of a processor stand for the
clock's where one process works.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

SIZES = (10**4, 10**6)
_HOUR, _GIGABYTE = 3600, 10**9

# Prices of November 2026, to be replaced by one's own: assumptions, the order of what large clouds
# ask for a core of a rented machine and object storage, without discounts.
DOLLARS_PER_CORE_HOUR = 0.04
DOLLARS_PER_GIGABYTE_MONTH = 0.023

# `publish.keep_publications` as shipped.
KEPT_PUBLICATIONS = 3
# The sensor as shipped: `interval_seconds` and `rest_seconds`.
SENSOR_SECONDS = 5 + 2
# docs/measurements.md: a small file added to a small library, a run of all stages.
RUN_SECONDS = 6.7
# docs/measurements.md, 100,000 files of which one was edited: a tick, 3.8 s; the inventory of the
# run looks at all of them again.
LOOK_SECONDS_PER_FILE = 2 * 3.8 / 10**5
# docs/measurements.md: Dagster ends a tick after so long.
TICK_SECONDS = 60.0


@dataclass(frozen=True)
class Measured:
    """A build by this machine's engine: bytes, and processor seconds of its stages.

    Args:
        how: the arguments of `python -m benchmarks.two_engines`.
    """

    name: str
    how: str
    documents: int
    chunks: int
    raw: int
    records: int
    publication: int
    parse: float
    cut: float
    encode: float
    publish: float

    def times(self, documents: int) -> Callable[[float], float]:
        """Return what makes an amount of this build one of a library with so many documents."""
        return lambda amount: amount * documents / self.documents

    @property
    def seconds_per_document(self) -> float:
        """Processor seconds of all that is done once for each document."""
        return (self.parse + self.cut + self.encode) / self.documents


# Two cores, November 2026; int8, 384 numbers a vector. all-MiniLM-L6-v2:
PAPERS = Measured(
    "research papers", "--raw PAPERS --template papers", documents=110, chunks=6970,
    raw=41_922_057, records=25_082_319, publication=30_899_554,
    parse=22.73, cut=2.13 + 7.89 + 0.01, encode=150.68, publish=2.19,
)  # fmt: skip
# Chinese statutes, 100 of 3,504 taken by chance; multilingual-e5-small, as the template says:
LAWS = Measured(
    "laws", "--raw LAWS --template law --model shipped", documents=100, chunks=5642,
    raw=1_911_421, records=14_605_425, publication=19_353_768,
    parse=4.83, cut=1.0 + 5.79 + 0.02, encode=151.77, publish=2.35,
)  # fmt: skip
KINDS = (PAPERS, LAWS)
# All 3,504 laws with vectors of words (`--template law --model hashing`), 167,918 chunks in all:
# the most memory of the process after its publication, less that before it; processor seconds.
PUBLISHING_BYTES_PER_CHUNK = (1905 - 331) * 10**6 / 167_918
PUBLISHING_SECONDS_PER_CHUNK = 41.18 / 167_918
# What one process may take: a machine with 32 GB, half of it for others.
PROCESS_BYTES = 16 * _GIGABYTE
# A build that a team waits for, a record that is rewritten at every change, a change that is found.
PATIENCE_CORES, PATIENCE_DAYS = 64, 7
PARTITIONS = 16**3
RECORD_BYTES = _GIGABYTE
FRESH_SECONDS = 600


def freshness(kind: Measured, documents: int) -> float | None:
    """Return the seconds from a new file to its being found; None where nothing can publish it.

    A publication is made by one process and written whole.
    """
    chunks = kind.times(documents)(kind.chunks)
    if chunks * PUBLISHING_BYTES_PER_CHUNK > PROCESS_BYTES:
        return None
    return (
        SENSOR_SECONDS
        + RUN_SECONDS
        + LOOK_SECONDS_PER_FILE * documents
        + kind.seconds_per_document
        + chunks * PUBLISHING_SECONDS_PER_CHUNK
    )


def cost_table(kind: Measured) -> str:
    """Return the costs of a kind of document by the size of the library, in Markdown."""
    head = (
        "documents", "chunks", "parse, h", "cut, h", "encode, h", "publish once, h", "raw, GB",
        "records, GB", "publication, GB", "$ once", "$ a month", "found after, s",
    )  # fmt: skip
    return _table(head, (_cost_row(kind, documents) for documents in SIZES))


def _cost_row(kind: Measured, documents: int) -> Iterable[str]:
    scaled = kind.times(documents)
    publish = PUBLISHING_SECONDS_PER_CHUNK * kind.chunks
    hours = [scaled(each) / _HOUR for each in (kind.parse, kind.cut, kind.encode, publish)]
    gigabytes = [scaled(each) / _GIGABYTE for each in (kind.raw, kind.records, kind.publication)]
    once = sum(hours) * DOLLARS_PER_CORE_HOUR
    stored = gigabytes[0] + gigabytes[1] + KEPT_PUBLICATIONS * gigabytes[2]
    found = freshness(kind, documents)
    figures = [
        scaled(kind.chunks), *hours, *gigabytes, once, stored * DOLLARS_PER_GIGABYTE_MONTH,
    ]  # fmt: skip
    return (
        _power(documents),
        *map(_short, figures),
        "–" if found is None else _short(found),
    )


def walls(kind: Measured) -> list[tuple[float, str]]:
    """Return at how many documents a library of one kind meets what, the nearest first."""
    one = kind.times(1)
    fixed = SENSOR_SECONDS + RUN_SECONDS + kind.seconds_per_document
    more = LOOK_SECONDS_PER_FILE + PUBLISHING_SECONDS_PER_CHUNK * one(kind.chunks)
    found = {
        "a new file is found after 10 minutes": (FRESH_SECONDS - fixed) / more,
        "a publication takes 16 GB of memory": (
            PROCESS_BYTES / PUBLISHING_BYTES_PER_CHUNK / one(kind.chunks)
        ),
        "a sensor's tick after a change takes 60 s, when Dagster ends it": (
            TICK_SECONDS / (LOOK_SECONDS_PER_FILE / 2)
        ),
        "each of 4,096 partitions (`hex_digits: 3`) has 1 GB of records": (
            RECORD_BYTES * PARTITIONS / one(kind.records)
        ),
        "the first build takes 64 cores 7 days": (
            PATIENCE_CORES * PATIENCE_DAYS * 24 * _HOUR / kind.seconds_per_document
        ),
    }
    return sorted((number, what) for what, number in found.items())


def walls_table() -> str:
    """Return the three nearest walls of all kinds in Markdown."""
    rows = ((kind.name, _short(number), what) for kind in KINDS for number, what in walls(kind)[:3])
    return _table(("a library of", "documents", "where"), rows)


def constants_table() -> str:
    """Return the measured constants in Markdown."""
    head = (
        "a document of", "measured by `python -m benchmarks.two_engines`", "chunks", "raw, kB",
        "records, kB", "publication, kB", "parse, s", "cut, s", "encode, s", "publish, s",
    )  # fmt: skip
    rows = []
    for kind in KINDS:
        one = kind.times(1)
        bytes_ = (one(kind.raw), one(kind.records), one(kind.publication))
        seconds = (one(kind.parse), one(kind.cut), one(kind.encode), one(kind.publish))
        figures = (one(kind.chunks), *(each / 1000 for each in bytes_), *seconds)
        how = f"`{kind.how}`, {kind.documents} documents"
        rows.append((kind.name, how, *map(_short, figures)))
    return _table(head, rows)


def report() -> str:
    """Return what docs/scale.md holds of it, in Markdown."""
    costs = ([f"**{each.name.capitalize()}**", cost_table(each)] for each in KINDS)
    return "\n\n".join([constants_table(), *chain.from_iterable(costs), walls_table()])


def _table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    lines = (head, ("---",) * len(head), *rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _power(number: int) -> str:
    return "10" + str(len(str(number)) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _short(number: float) -> str:
    """Return a number with two significant digits: more is not known."""
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


if __name__ == "__main__":
    print(report())
