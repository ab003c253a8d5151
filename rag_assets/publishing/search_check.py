"""Proof that a search table holds its rows and that every searcher finds them."""

import re
from collections.abc import Sequence
from pathlib import Path

from rag_assets.model import DamagedFileError
from rag_assets.publishing.search_reading import SearchTable, quote_text
from rag_assets.publishing.search_text import INDEX_NAMES, WORDS

_WORD = re.compile(r"(?<!\w)[^\W\d_]{2,40}(?!\w)")


def check_search_table(folder: Path, expected_rows: int, added: Sequence[str] = ()) -> None:
    """Prove that a search table holds its rows and that both searchers find them.

    The first, middle and last rows are looked for, and those of the rows that were added: by their
    own vectors, which nothing may beat, and by a word of each text that is indexed. Rows without a
    direction or without a word are passed over.

    Args:
        folder: of the publication, published or about to be.
        expected_rows: how many chunks were joined for it.
        added: chunks that a table in segments got last.

    Raises:
        DamagedFileError: a row is missing or cannot be found.
    """
    table = SearchTable(folder, uses_shared_cache=False)
    mend = "Nothing was published. Run `rag index` again; if it persists, report it."
    if table.rows != expected_rows:
        raise DamagedFileError(
            f"{table.path}: holds {table.rows} rows, {expected_rows} were written. {mend}"
        )
    if table.unindexed_rows:
        raise DamagedFileError(
            f"{table.path}: {table.unindexed_rows} rows are missing from the text index. {mend}"
        )
    if not expected_rows:
        return
    identities = table.fetch(columns=["chunk_id"]).column("chunk_id")
    looked_for = [identities[each].as_py() for each in _spread(expected_rows)]
    looked_for += [added[each] for each in _spread(len(added))]
    for chunk_id in dict.fromkeys(looked_for):
        where = f"chunk_id = {quote_text(chunk_id)}"
        row = table.fetch(where).to_pylist()[0]
        for column in table.dimensions:
            vector = row[column]
            if not any(vector):
                continue
            best = table.search_vectors(column, vector, 1)
            own = table.search_vectors(column, vector, 1, where)
            if not own or own[0][1] != best[0][1]:
                raise DamagedFileError(
                    f"{table.path}: {chunk_id} is not found by its own '{column}'. {mend}"
                )
        for column in INDEX_NAMES:
            word = _first_word(row.get(column) or "")
            if word and not table.finds_word(word, column, where):
                raise DamagedFileError(
                    f"{table.path}: {chunk_id} is not found by '{word}' of its '{column}'. {mend}"
                )


def _spread(count: int) -> list[int]:
    return sorted({0, count // 2, count - 1}) if count else []


def _first_word(text: str) -> str | None:
    """Return the first word that the text index keeps, None where there is none."""
    import lance

    words = (match.group() for match in _WORD.finditer(text))
    return next((word for word in words if lance.tokenize(word, **WORDS)), None)
