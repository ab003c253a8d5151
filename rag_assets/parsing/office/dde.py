"""Links by which an office file starts another program when it is opened (DDE).

They are never followed here; the file is worth a warning, since its next reader may open it in
its own program. ECMA-376 part 1: fields DDE and DDEAUTO (17.16.5.15), `ddeLink` (18.14.5).
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rag_assets.model import ParseFailure
from rag_assets.parsing.office.docx_xml import W
from rag_assets.parsing.package import OfficePackage

if TYPE_CHECKING:
    from lxml.etree import _Element

_FIELD = re.compile(r"\s*DDE(?:AUTO)?\b\s*(?P<command>.*)", re.IGNORECASE | re.DOTALL)
_LONGEST_SHOWN = 80


def workbook_dde_warning(package: OfficePackage, workbook: str) -> tuple[str, ...]:
    """Return a warning that names the commands of a workbook's DDE links, none without.

    A list of links that cannot be read has a warning of its own: it holds no text.
    """
    commands, unread = [], []
    for part in package.related(workbook, "externalLink"):
        try:
            links = list(package.tree(part).iter("{*}ddeLink"))
        except ParseFailure as failure:
            unread.append(f"The links in {part} were not looked at: {failure.message}")
            continue
        commands += [f"{link.get('ddeService', '')} {link.get('ddeTopic', '')}" for link in links]
    return (*_warn(commands), *unread)


def field_dde_warning(root: "_Element") -> tuple[str, ...]:
    """Return a warning that names the commands of a Word part's DDE fields, none without.

    Args:
        root: of the part; a field's instruction may stand in several runs of its paragraph.
    """
    codes = [field.get(W + "instr", "") for field in root.iter(W + "fldSimple")]
    codes += [
        "".join(code.text or "" for code in paragraph.iter(W + "instrText"))
        for paragraph in root.iter(W + "p")
    ]
    found = (_FIELD.match(code) for code in codes)
    return _warn(field["command"] for field in found if field)


def _warn(commands: Iterable[str]) -> tuple[str, ...]:
    shown = dict.fromkeys(" ".join(command.split())[:_LONGEST_SHOWN] for command in commands)
    if not shown:
        return ()
    warning = (
        f"The file starts other programs when it is opened (DDE: {'; '.join(shown)}); nothing was "
        "started here. Find out where it comes from before you open it in its own program."
    )
    return (warning,)
