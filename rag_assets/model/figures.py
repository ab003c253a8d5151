"""Where a picture stands in a clean text: `![Figure 3](attachment:fig-003)`.

The reference is part of the text that all offsets count; a person is shown what it names.
"""

import re

# The name may hold brackets, one in another: “Fig. [3] a”.
FIGURE = re.compile(r"!\[(?P<name>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\(attachment:[^\s()]*\)")


def show_figures(text: str) -> str:
    """Return a text for a person: instead of each picture its name, `[Figure 3]`."""
    return FIGURE.sub(lambda figure: f"[{figure['name'].strip() or 'picture'}]", text)
