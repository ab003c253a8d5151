"""What the curator reads and what it finds."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import PurePosixPath

from rag_assets.law.structure import LawText, Line, read_laws, read_lines


class FindingKind(StrEnum):
    """What may be amiss with a file of laws."""

    EMPTY = "empty or stub"
    EQUAL = "equal texts"
    SUPERSEDED = "superseded"
    NO_ARTICLES = "no articles"
    STRUCTURE = "broken structure"
    TITLE = "suspicious title"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something for a person to look at. Nothing is changed.

    Args:
        rule: id in the register.
        file: that it is about; `others` are files that it is compared with.
        line: in the file, from 1; None where it is about the whole.
        article: as the law writes it, where it is about one.
        why: one sentence; `advice` says what one may do.
    """

    kind: FindingKind
    rule: str
    file: str
    line: int | None
    article: str | None
    why: str
    advice: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class LawFile:
    """A file as it was read.

    Args:
        file: path; its last part is the file's name.
        text: clean text.
        line_offset: lines of the file that stand before the text: front matter.
        copies: paths of further files with the same bytes.
        is_kept: a person has said that its laws are not repealed.
    """

    file: str
    text: str
    line_offset: int = 0
    copies: tuple[str, ...] = ()
    is_kept: bool = False

    @cached_property
    def lines(self) -> list[Line]:
        """Its lines, each with what it is."""
        return read_lines(self.text)

    @cached_property
    def laws(self) -> list[LawText]:
        """The laws that it holds, in order."""
        return read_laws(self.text)

    @property
    def title(self) -> str:
        """The title of its first law, "" where none was read."""
        return (self.laws[0].title or "") if self.laws else ""

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return PurePosixPath(self.file).stem

    @property
    def is_named_as_statute(self) -> bool:
        """Whether title or file name end as those of statutes do."""
        return names_a_statute(self.title) or names_a_statute(self.stem)

    def line_at(self, offset: int) -> int:
        """Return the number of the line in the file, from 1, that holds a character."""
        return self.text.count("\n", 0, offset) + 1 + self.line_offset


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule says of a file. `offset` is None where it is about the whole."""

    why: str
    offset: int | None = None
    article: str | None = None


@dataclass(frozen=True, slots=True)
class FileRule:
    """A rule that judges a file by itself.

    Args:
        id: stable name, as the register in the docs calls it.
        advice: what one may do where it fires.
        fires: file name and text of which it fires; `silent` of which it does not.
    """

    id: str
    kind: FindingKind
    advice: str
    fires: tuple[str, str]
    silent: tuple[str, str]
    check: Callable[[LawFile], Iterator[Found]]

    def apply(self, file: LawFile) -> Iterator[Finding]:
        """Yield what it finds in a file."""
        for found in self.check(file):
            line = file.line_at(found.offset) if found.offset is not None else None
            yield Finding(
                self.kind, self.id, file.file, line, found.article, found.why, self.advice
            )


Files = Mapping[str, str]
"""Texts by path, as examples of rules that compare files."""

_COUNTRY = "中华人民共和国"
# (2018-12-29), （2012年修正）: a wording. （1988年） tells which of several laws it is.
WORDING = re.compile(
    r"[(（][^()（）]*(?:\d{4}-\d{2}-\d{2}|\d{4}[^()（）]*(?:修正|修订|修改|版|文本))[^()（）]*[)）]"
)
_STATUTE = re.compile(
    r"(?:法|法典|条例|规定|办法|细则|规则|解释|决定|决议|章程|规程|规范|守则|修正案|安排|批复|通知|"
    r"意见|答复|标准|准则|公告|公约|协定|附则|编)$"
)
_REMARK = re.compile(r"[(（][^()（）]*[)）]$")


def law_name(written: str) -> str:
    """Return a law's name for comparing: no wording, country, marks or white space."""
    plain = WORDING.sub("", unicodedata.normalize("NFKC", written))
    return re.sub(r"[\W_]+", "", plain.replace(_COUNTRY, ""))


def names_a_statute(written: str) -> bool:
    """Say whether a title ends as those of statutes do, remarks in brackets left out."""
    name = WORDING.sub("", written).strip()
    while (shorter := _REMARK.sub("", name).strip()) != name:
        name = shorter
    return _STATUTE.search(name) is not None
