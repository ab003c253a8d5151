"""How a library's documents and chunks are spread, as plots of text for the UI."""

import math
from collections.abc import Iterator, Sequence

from rag_assets.publishing.catalogue import catalogue_name, open_catalogue
from rag_assets.storage import current_folder
from rag_assets.workspace import Namespace

_BUCKETS = 10
_LONGEST_BAR = 40
# What lies beyond stands in one last bucket: a single giant would flatten all the others.
_SHOWN_SHARE = 0.95
_STEPS = (1, 2, 2.5, 5, 10)
_ROUNDING = 1e-9  # 0.3 / 0.1 is a little less than 3

_PLOTS = (
    (
        "Characters a page",
        "SELECT characters / pages FROM parse_reports WHERE status = 'ok' AND pages > 0",
    ),
    ("Seconds a document", "SELECT seconds FROM parse_reports"),
    ("Headings a document", "SELECT headings FROM parse_reports WHERE status = 'ok'"),
    ("Tokens a chunk", "SELECT token_count FROM chunks"),
)


def plot_publication(namespace: Namespace) -> str:
    """Return histograms of the current publication as Markdown: what, how many, how spread.

    Raises:
        PublicationError: nothing is published yet.
    """
    found = current_folder(namespace.publications, namespace.name)
    connection = open_catalogue(found / catalogue_name(found.name))
    try:
        measured = [
            (title, [float(row[0]) for row in connection.execute(query).fetchall()])
            for title, query in _PLOTS
        ]
    finally:
        connection.close()
    return "\n\n".join(
        f"**{title}**\n\n```text\n{draw_histogram(values)}\n```"
        for title, values in measured
        if values
    )


def draw_histogram(values: Sequence[float]) -> str:
    """Return a histogram as lines: range, bar, count; bars of at most 40 characters.

    Args:
        values: at least one, none negative.
    """
    return "\n".join(_lines(sorted(values)))


def _lines(values: Sequence[float]) -> Iterator[str]:
    shown = values[math.ceil(_SHOWN_SHARE * len(values)) - 1]
    width = _nice_width(shown / _BUCKETS)
    count = max(1, math.ceil(shown / width - _ROUNDING))
    held = [0] * (count + 1)
    for value in values:
        # The last bucket holds its upper edge too: a share of 1 has no bucket of its own.
        is_edge = math.isclose(value, count * width)
        held[count - 1 if is_edge else min(count, math.floor(value / width + _ROUNDING))] += 1
    labels = [f"{index * width:g} – {(index + 1) * width:g}" for index in range(count)]
    labels.append(f"from {count * width:g}")
    last = count + 1 if held[count] else count
    margin = max(map(len, labels[:last]))
    for label, number in zip(labels[:last], held[:last], strict=True):
        bar = "█" * round(_LONGEST_BAR * number / max(held))
        yield f"{label:>{margin}} {bar or ('▏' if number else '')} {number}"


def _nice_width(width: float) -> float:
    """Return the next 1, 2, 2.5 or 5 times a power of ten; 1 for nothing."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in _STEPS if step * power >= width * (1 - 1e-9))
