"""The structure of a statute: laws of a file, levels, articles, and the units that are shown.

Pure: a text goes in, offsets into it come out. `machine.py` reads against section 2.1.2 of the
specification of the law vault by its table of transitions.
"""

from rag_assets.law.structure.reading import (
    FULL_AND_MOST,
    PATH_SEPARATOR,
    TRANSITIONS,
    ArticleMark,
    Group,
    LawText,
    Line,
    LineKind,
    State,
    Unit,
    UnitKind,
    is_amendment,
    merge_units,
    read_laws,
    read_lines,
)
