"""How a row of a table is written so that it can stand alone."""

from collections.abc import Sequence

# Longer cells, and whole sentences, are content: names of rows are short.
_MAX_NAME_CHARACTERS = 100
_SENTENCE_END = tuple(".?!。？！")


def show_row(cells: Sequence[tuple[str, str]], *, is_named: bool = True) -> str:
    """Return a row as `Sample B7: Yield (%) = 74.8; Count = 3`, its first cell being its name.

    A first cell that is no name (a sentence, the only cell) is written as all others.

    Args:
        cells: the filled ones in order, each with the name of its column, "" without one.
        is_named: whether the first cell may be the name of the row.
    """
    column, name = cells[0]
    is_name = (
        is_named
        and len(cells) > 1
        and len(name) <= _MAX_NAME_CHARACTERS
        and not name.endswith(_SENTENCE_END)
    )
    rest = "; ".join(f"{own} = {cell}" if own else cell for own, cell in cells[is_name:])
    if not is_name:
        return rest
    # Of "tray u46" below "Tray" the column says nothing more.
    is_told = not column or name.casefold().startswith(column.casefold())
    return f"{name if is_told else f'{column} {name}'}: {rest}"
