"""What the text index of a publication holds: `rag build-bm25` shows it (spec 000 §4.5).

The specification builds BM25 by a command of its own, where somebody wants it. Here each
publication has one, since Chinese and exact terms cannot be found without: it is built with the
publication, over the same rows, and checked before readers see it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.model import PublicationError
from rag_assets.publishing.search_reading import TABLE_NAME, new_session
from rag_assets.publishing.search_text import INDEX_NAMES
from rag_assets.storage import LocalStore, current_folder
from rag_assets.workspace import Namespace


@dataclass(frozen=True, slots=True)
class TextIndex:
    """One text index of the publication that readers see.

    Args:
        column: what is indexed: `search_text` (headings and text) or `search_heading`.
        rows: that it knows; `unindexed_rows` are missing from it, 0 unless it is damaged.
        words: how many different ones it holds, in each of its parts counted anew.
        tokenizer: what cuts text into words; `rules` what is done with each of them.
        size_bytes: on disk.
    """

    namespace: str
    publication: str
    column: str
    rows: int
    unindexed_rows: int
    words: int
    tokenizer: str
    rules: tuple[str, ...]
    size_bytes: int


def describe_text_indexes(namespace: Namespace) -> list[TextIndex]:
    """Return the text indexes of a namespace's current publication.

    Raises:
        PublicationError: nothing is published, or the publication has no such index.
    """
    import lance

    folder = current_folder(namespace.publications, namespace.name)
    dataset = lance.dataset(str(folder / TABLE_NAME), session=new_session())
    sizes = _sizes(folder / TABLE_NAME, dataset)
    found = []
    for column, name in INDEX_NAMES.items():
        if name not in sizes:
            raise PublicationError(
                f"publication {folder.name} of '{namespace.name}' has no text index '{name}'. "
                f"Delete {folder} and run `rag index --namespace {namespace.name}`."
            )
        told = dataset.stats.index_stats(name)
        params: dict[str, Any] = told["indices"][0]["params"]
        found.append(
            TextIndex(
                namespace.name, folder.name, column, int(told["num_indexed_rows"]),
                int(told["num_unindexed_rows"]), sum(int(i["num_tokens"]) for i in told["indices"]),
                str(params["base_tokenizer"]), tuple(_rules(params)), sizes[name],
            )
        )  # fmt: skip
    return found


def _rules(params: dict[str, Any]) -> list[str]:
    language = params["language"]
    told = {
        "lower_case": "lower case",
        "ascii_folding": "accents folded",
        "stem": f"{language} stems",
        "remove_stop_words": f"{language} stop words left out",
    }
    return [sentence for name, sentence in told.items() if params.get(name)]


def _sizes(table: Path, dataset: Any) -> dict[str, int]:
    """Return the bytes of each index on disk, by its name."""
    return {
        index.name: sum(
            LocalStore(table).used(f"_indices/{segment.uuid}") for segment in index.segments
        )
        for index in dataset.describe_indices()
    }
