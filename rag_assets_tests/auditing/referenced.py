"""A small published workspace whose documents are cited by a reference list."""

from pathlib import Path

from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import HASHING, build, make_workspace

ROOFS = """title: "Cool roofs and the heat of cities"
authors: [Ana Keller, Bo Brandt, Chen Li]
year: 2021
doi: 10.1000/roofs
"""
SALT = """title: "Bridges rust where salt lies in the air"
authors: [Dora Moss]
year: 2019
"""
LAMPS = """title: "Red lamps in small houses at night"
authors: [Eva Stone]
year: 2015
"""
DRAFT = """# Draft

Cool roofs reflect sunlight (Keller et al., 2020, p. 900). Bridges rust (Moss, 2019).
Salt is everywhere (Moss, 2019b; Nobody, 2001). Lamps are red (Stone, 2015).
Trains are late (Rail, 2012).

## References

Keller, A., Brant, B., & Li, C. (2020). Cool roofs and the heat of cities.
*Roofs*, *3*, 12–19. doi:10.1000/rofs

Moss, D. (2019a). Bridges rust where salt lies in the air. *Rust*, *1*, 1–5.

Moss, D. (2019b). Bridges rust where salt lies in the air. *Rust*, *1*, 1–5.

Rail, R. (2012). Punctual trains of the northern valleys. *Rails*, *2*, 7–9. doi:10.1000/rails

Stone, E. (2015). Red lamps in small houses at night. *Lamps*, *9*, 1–4.

Unread, U. (1999). A book about nothing that anybody cites. Press.
"""


def referenced_workspace(root: Path) -> Workspace:
    """Return a published workspace with `drafts/chapter.md`."""
    files = {
        "evidence/roofs.md": "# Cool roofs and the heat of cities\n\nCool roofs stay cool.\n",
        "evidence/roofs.md.meta.yaml": ROOFS,
        "evidence/salt.md": "# Bridges rust where salt lies in the air\n\nBridges rust.\n",
        "evidence/salt.md.meta.yaml": SALT,
        # The stamp stands on the page alone, not in the title.
        "evidence/lamps.md": "# Red lamps in small houses at night\n\nRETRACTED\n\nLamps glow.\n",
        "evidence/lamps.md.meta.yaml": LAMPS,
    }
    workspace = make_workspace(root, files, HASHING | {"verify": {"scorer": "similarity"}})
    build(workspace.namespace("thesis"))
    workspace.drafts.mkdir(exist_ok=True)
    (workspace.drafts / "chapter.md").write_text(DRAFT, encoding="utf-8")
    return workspace
