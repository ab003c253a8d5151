"""The list of stages: what a namespace's assets are called and which reads which.

It stands here and nowhere else. A stage is a line of `STAGES` and, in `assets/`, an entry of
`stage.py` or a module of its name with a function `build_<name>_asset`; commands, publications,
lineage and garbage collection follow.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rag_assets.model.settings import Settings


@dataclass(frozen=True, slots=True)
class Stage:
    """One asset of a namespace.

    Args:
        name: of the asset, of its module, and of the folder of its records.
        after: the stage that it reads; None for the first.
        is_partitioned: by content hash; otherwise it works on the namespace as a whole.
        has_records: it keeps a record of each partition (`storage.refresh_record`).
        beside: further stages that it reads, where the namespace has them.
        is_on: whether a namespace of these settings has it; None where each has.
    """

    name: str
    after: str | None
    is_partitioned: bool = True
    has_records: bool = True
    beside: tuple[str, ...] = ()
    is_on: Callable[[Settings], bool] | None = None


# In the order in which data flows.
STAGES = (
    Stage("inventory", None, is_partitioned=False, has_records=False),
    Stage("raw_files", "inventory", has_records=False),
    Stage("parse_reports", "raw_files"),
    Stage("parents", "parse_reports"),
    Stage("chunks", "parents"),
    Stage("chunk_edits", "chunks"),
    Stage("first_index", "chunk_edits", is_partitioned=False, has_records=False),
    Stage("embeddings", "chunk_edits"),
    Stage("entities", "chunk_edits", is_on=lambda settings: settings.graph.enabled),
    Stage(
        "search_index", "embeddings", is_partitioned=False, has_records=False, beside=("entities",)
    ),
)

# Assets of the workspace that tell of the parses of all namespaces; made where any are.
PARSE_SUMMARIES = ("parse_quality_report", "instruction_briefs")


_BY_NAME = {stage.name: stage for stage in STAGES}


def stage_named(name: str) -> Stage:
    """Return the stage of a name; a KeyError where there is none."""
    return _BY_NAME[name]


def stage_names() -> tuple[str, ...]:
    """Return the names of all stages in the order in which data flows."""
    return tuple(stage.name for stage in STAGES)


def switched_on(names: Iterable[str], settings: Settings) -> tuple[str, ...]:
    """Return those of some stages that a namespace of these settings has."""
    stages = ((name, stage_named(name)) for name in names)
    return tuple(name for name, stage in stages if stage.is_on is None or stage.is_on(settings))


def read_by(name: str, settings: Settings) -> Sequence[str]:
    """Return the stages that one reads in a namespace of these settings."""
    stage = stage_named(name)
    return switched_on((*([stage.after] if stage.after else ()), *stage.beside), settings)


def way_to(name: str) -> tuple[str, ...]:
    """Return the stages that one is made through, from the inventory to itself."""
    stage = stage_named(name)
    return (*(way_to(stage.after) if stage.after else ()), *stage.beside, name)


def way_from(name: str) -> tuple[str, ...]:
    """Return the stages that a publication is made through, from one of them on."""
    way = way_to("search_index")
    return way[way.index(name) :]


def partitioned(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of some stages that are partitioned by content hash."""
    return tuple(name for name in names if stage_named(name).is_partitioned)


def recorded(names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return those of some stages that keep records; of all stages where none are named."""
    chosen = stage_names() if names is None else names
    return tuple(name for name in chosen if stage_named(name).has_records)


def published_stages() -> tuple[str, ...]:
    """Return the stages on whose records a publication is made, first to last."""
    return recorded(way_to("search_index"))
