"""Articles of statutes in a text: where each begins, in Chinese and in English."""

import re
from dataclasses import dataclass

from rag_assets.law.english_articles import english_beginning, find_english_begins
from rag_assets.law.numbers import NUMBER, read_number, write_number

# At the beginning of a paragraph; within one, another article is spoken of. So it is where the
# paragraph goes on with what is said about the article.
_MARKUP = r"[#>*_\s\x{3000}]*"
_PROSE = "之的规和与及至或、，,项款第所中"
# Fewer make no statute: “第一条” begins a list, too.
_FEWEST = 3
_BEGINS = re.compile(
    rf"(?m)^[#>*\s\u3000]*第\s?(?P<number>{NUMBER})\s?条(?:\s?之\s?(?P<part>{NUMBER}))?"
    rf"(?=[^{_PROSE}]|$)"
)


@dataclass(frozen=True, slots=True)
class ArticleBegin:
    """The beginning of an article.

    Args:
        key: number, and for 之一 that behind a dot: `20`, `276.1`; of a section `section 12a`.
        shown: as the statute writes it.
        start: offset of its first character.
    """

    key: str
    shown: str
    start: int


@dataclass(frozen=True, slots=True)
class ArticleReference:
    """An article that a text names.

    Args:
        key: as of `ArticleBegin`.
        shown: as it is written, without white space; of several in English one by one.
        law: the law's name as it is written; None where none is.
        documents: ids of the documents that it means, the newest version first; empty where no
            law is named, or none that is known.
        is_whole: whether the name is theirs; else its words or initials stand for them.
        is_surely_law: whether an unknown `law` is one: capitals may be anything.
        is_plain_word: whether it is called “section”, as chapters of any text are.
    """

    key: str
    shown: str
    law: str | None = None
    documents: tuple[str, ...] = ()
    is_whole: bool = True
    is_surely_law: bool = True
    is_plain_word: bool = False


def article_key(number: str, part: str | None) -> str:
    """Return the key of an article from its numbers as they are written."""
    return f"{read_number(number)}" + (f".{read_number(part)}" if part else "")


def find_begins(text: str) -> list[ArticleBegin]:
    """Return the beginnings of articles in a text, in their order."""
    chinese = [
        ArticleBegin(
            article_key(match["number"], match["part"]),
            f"第{match['number']}条" + (f"之{match['part']}" if match["part"] else ""),
            match.start() + match.group().index("第"),
        )
        for match in _BEGINS.finditer(text)
    ]
    english = [ArticleBegin(*begin) for begin in find_english_begins(text)]
    return sorted([*chinese, *english], key=lambda begin: begin.start)


def has_articles(count: int) -> bool:
    """Say whether a document with so many beginnings of articles is a statute."""
    return count >= _FEWEST


def article_pattern(key: str) -> str:
    """Return a regular expression that finds the beginning of an article in any numerals.

    For Rust's engine, which looks neither ahead nor behind.
    """
    ways = [english_beginning(key)]
    number, _, part = key.partition(".")
    if number.isdecimal() and (not part or part.isdecimal()):
        told = rf"第\s?{_either(number)}\s?条" + (rf"\s?之\s?{_either(part)}" if part else "")
        ways.append(rf"{told}(?:[^{_PROSE}]|$)")
    return rf"(?m)^{_MARKUP}(?:{'|'.join(ways)})"


def _either(number: str) -> str:
    return rf"(?:{number}|{write_number(int(number))})"
