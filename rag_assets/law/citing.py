"""Citations of statutes as `[文件 > 章节 > 条款]`, written and read back."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.law.names import fold_text
from rag_assets.law.references import ArticleReference, find_references
from rag_assets.law.structure import PATH_SEPARATOR
from rag_assets.model import UsageError


@dataclass(frozen=True, slots=True)
class StatuteCitation:
    """What a citation names.

    Args:
        law: title or short name; `version` the day of its wording, where it is named.
        path: levels, the highest first; may be left out.
        key: of the article: `133-1`; `paragraph` and `item` from 1, where named.
        is_bracketed: as of `ArticleReference`.
    """

    law: str
    version: str | None
    path: tuple[str, ...]
    key: str
    paragraph: int | None = None
    item: int | None = None
    is_bracketed: bool = False


def write_citation(
    law: str, path: Sequence[str], article: str, clause: str = "", version: str = ""
) -> str:
    """Return the citation of an article.

    Args:
        article: as the law writes it; `clause` likewise, 第一款第二项.
        version: the day of its wording, where several have the name.
    """
    named = f"{law}({version})" if version else law
    return f"[{PATH_SEPARATOR.join((named, *path, article + clause))}]"


def read_citation(written: str) -> StatuteCitation:
    """Return what a citation names; brackets may be left out.

    Raises:
        UsageError: it names no law or no article.
    """
    found = [one for one in find_references(written) if one.path is not None]
    if len(found) != 1 or found[0].end < len(written.rstrip(" ]】］.。")):
        raise UsageError(
            f"'{written}' is no citation of a statute. Write [law > chapter > article], for "
            "instance [刑法 > 第二编 分则 > 第一百三十三条之一]; the chapter may be left out."
        )
    return citation_of(found[0])


def citation_of(found: ArticleReference) -> StatuteCitation:
    """Return what a reference with a law names, as a citation."""
    return StatuteCitation(
        found.law or "",
        found.version,
        found.path or (),
        found.key,
        found.paragraph,
        found.item,
        found.is_bracketed,
    )


def is_below(path: Sequence[str], levels: Sequence[str]) -> bool:
    """Say whether a path has the levels that a citation names, all or some, in order."""
    rest = iter([_folded(level) for level in path])
    return all(_folded(level) in rest for level in levels)


def _folded(level: str) -> str:
    return "".join(fold_text(level).split())
