"""Citations of statutes as `[文件 > 章节 > 条款]`, written and read back."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.law.articles import ARTICLE_AND_CLAUSE, article_key, read_clause
from rag_assets.law.structure import PATH_SEPARATOR
from rag_assets.model import UsageError

_CITATION = re.compile(r"^[\[【［]\s*(?P<inner>.+?)\s*[\]】］]$")
_PARTS = re.compile(r"\s*[>＞›]\s*")
_VERSION = re.compile(r"\s*[(（](?P<day>\d{4}-\d{2}-\d{2})[)）]$")
_ARTICLE = re.compile(rf"^{ARTICLE_AND_CLAUSE}$")


@dataclass(frozen=True, slots=True)
class StatuteCitation:
    """What a citation names.

    Args:
        law: title or short name; `version` the day of its wording, where it is named.
        path: levels, the highest first; may be left out.
        key: of the article: `133-1`; `paragraph` and `item` from 1, where named.
    """

    law: str
    version: str | None
    path: tuple[str, ...]
    key: str
    paragraph: int | None = None
    item: int | None = None


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
    match = _CITATION.match(written.strip())
    parts = [part for part in _PARTS.split(match["inner"] if match else written.strip()) if part]
    article = _ARTICLE.match("".join(parts[-1].split())) if len(parts) > 1 else None
    if article is None:
        raise UsageError(
            f"'{written}' is no citation of a statute. Write [law > chapter > article], for "
            "instance [刑法 > 第二编 分则 > 第一百三十三条之一]; the chapter may be left out."
        )
    version = _VERSION.search(parts[0])
    paragraph, item = read_clause(article)
    return StatuteCitation(
        _VERSION.sub("", parts[0]).strip("《》"),
        version["day"] if version else None,
        tuple(parts[1:-1]),
        article_key(article["number"], article["part"]).replace(".", "-"),
        paragraph,
        item,
    )


def is_below(path: Sequence[str], levels: Sequence[str]) -> bool:
    """Say whether a path has the levels that a citation names, all or some, in order."""
    rest = iter([_folded(level) for level in path])
    return all(_folded(level) in rest for level in levels)


def _folded(level: str) -> str:
    return "".join(unicodedata.normalize("NFKC", level).split())
