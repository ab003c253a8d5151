"""LaTeX as a stream of tokens: files read, macros expanded, comments and conditions resolved."""

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from rag_assets.model import UsageError, drop_controls

# One file as tokens.

# "char" is one of $ $$ { } [ ] ( ) & ~ ^ _ *; "end" ends a file.
TokenKind = Literal["text", "space", "par", "word", "char", "parameter", "verb", "code", "end"]


class Place(NamedTuple):
    """A line of a file.

    Args:
        file: relative to the folder of the main file; empty for the main file.
        line: from 1.
    """

    file: str
    line: int


class Token(NamedTuple):
    """A piece of LaTeX.

    Args:
        text: of a command its name without the backslash; of verbatim text what it holds.
    """

    kind: TokenKind
    text: str
    place: Place


# Environments whose content LaTeX does not read.
_VERBATIM = r"verbatim\*?|[BL]?Verbatim\*?|lstlisting|minted|alltt|comment|filecontents\*?"
_TOKEN = re.compile(
    rf"""
    \\begin\s*\{{(?P<name>{_VERBATIM})\}}(?P<code>.*?)\\end\s*\{{(?P=name)\}}
  | \\(?:verb\*?|lstinline(?:\[[^\]\n]*\])?|mintinline\{{\w+\}})
    (?:\{{(?P<braced>[^{{}}\n]*)\}}|(?P<mark>[^\sA-Za-z*\[{{])(?P<verb>[^\n]*?)(?P=mark))
  | \\(?P<link>url|path|nolinkurl|href)\s*\{{(?P<address>(?:[^{{}}\\\n]|\\.|\{{[^{{}}\n]*\}})*)\}}
  | %[^\n]*(?:\n[ \t]*(?P<after_comment>(?:\n\s*)?))?
  | (?P<par>[ \t]*\n[ \t]*\n\s*)
  | (?P<space>[ \t]*\n[ \t]*|[ \t]+)
  | \\(?P<word>[A-Za-z@]+)[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?
  | \\(?P<symbol>.)
  | (?P<char>\$\$?|[{{}}\[\]()&~^_*])
  | (?P<parameter>\#+\d?)
  | (?P<text>[^\\{{}}\[\]()&~^_*$%\#\s]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CODE_OPTIONS = re.compile(r"(?:\s*\[(?:[^\[\]{}]|\{[^{}]*\})*\]|\{\w*\})*[ \t]*\n?")
_CODE_OPTION = re.compile(r"\b(label|caption)\s*=\s*(\{[^{}]*\}|[^,\[\]]+)")
_LINE_END = re.compile(r"\r\n?|\n")
_NO_TEXT = ("comment", "filecontents", "filecontents*")
_DOLLARS = {"(": "$", ")": "$", "[": "$$", "]": "$$"}


def tokenize(text: str, file: str = "") -> list[Token]:
    """Return the tokens of a file; comments and what is never typeset are left out.

    Args:
        file: relative to the folder of the main file.
    """
    text = _LINE_END.sub("\n", text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        place = Place(file, bisect_right(starts, match.start()))
        kind, written = match.lastgroup, match.group()
        if match["name"] in _NO_TEXT:
            continue
        if match["name"] is not None:
            options = _CODE_OPTIONS.match(match["code"])
            start = options.end() if options is not None else 0
            tokens.append(Token("code", match["code"][start:].rstrip(), place))
            # The number of a listing is unknown, but its label is not missing.
            for key, value in _CODE_OPTION.findall(match["code"][:start]):
                command = f"\\{key.replace('label', 'lstlabel')}{{{value.strip('{}')}}}"
                tokens += (token._replace(place=place) for token in tokenize(command, file))
        elif match["verb"] is not None or match["braced"] is not None:
            tokens.append(Token("verb", match["verb"] or match["braced"] or "", place))
        elif match["link"] is not None:
            if match["link"] != "href":
                address = re.sub(r"\\([%#&_~{}])", r"\1", match["address"])
                tokens.append(Token("text", address, place))
        elif kind == "symbol" and match["symbol"] in _DOLLARS:
            tokens.append(Token("char", _DOLLARS[match["symbol"]], place))
        elif kind in {"word", "symbol"}:
            tokens.append(Token("word", match[kind], place))
        elif kind == "after_comment" and match[kind]:
            tokens.append(Token("par", "\n\n", place))
        elif kind in {"par", "space", "char", "parameter", "text"}:
            tokens.append(Token(kind, written, place))  # type: ignore[arg-type]
    return tokens


def names(text: str) -> frozenset[str]:
    """Return words as a set."""
    return frozenset(text.split())


def pairs(text: str) -> dict[str, str]:
    """Return a table that is written as words: a name, what it means, the next name."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


# The files of a draft.

_MOST_FILES = 1_000
_MOST_BYTES = 32 * 1024 * 1024
# \input reads nothing else: a draft from elsewhere must not show what lies on this computer.
_SUFFIXES = names(".tex .ltx .latex .txt .sty .cls .cfg .def .bib .bbl")
_INPUT_ENCODING = re.compile(rb"\\(?:usepackage|RequirePackage)\[(\w+)\]\{inputenc\}")
# What Python does not know by the name that LaTeX gives it.
_ENCODINGS = {"ansinew": "cp1252", "applemac": "mac_roman"}


@dataclass(slots=True)
class DraftFiles:
    """The files that a draft is made of, as they are read.

    Args:
        main: its path.
        root: nothing outside this folder is read.
        contents: of each file read, by its path from the folder of `main`.
        warnings: sentences a person can act on.
    """

    main: Path
    root: Path
    contents: dict[str, bytes] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def where(self, place: Place) -> str:
        """Return a place as messages name it."""
        return f"{place.file or self.main.name}, line {place.line}"

    def name_of(self, path: Path) -> str:
        """Return a path from the folder of the main file; empty for that file."""
        folder = self.main.parent.resolve()
        name = Path(os.path.relpath(path, folder)).as_posix()
        return "" if name == self.main.name else name

    def find(self, written: str, suffix: str, beside: str = "") -> Path | None:
        r"""Return the file that `\input{written}` and its like mean, None where there is none.

        Args:
            suffix: that may be left out.
            beside: file whose folder is looked into after that of the main file.
        """
        written = written.strip().strip('"')
        if not written or "\0" in written:
            return None
        folders = [self.main.parent, (self.main.parent / beside).parent]
        names = [written + suffix, written]
        for path in (folder / name for folder in folders for name in names):
            if path.suffix.lower() in _SUFFIXES and path.is_file():
                found = path.resolve()
                return found if found.is_relative_to(self.root.resolve()) else None
        return None

    def read(self, path: Path) -> str:
        """Return the text of a file.

        Raises:
            UsageError: it is too large, or its encoding is neither UTF-8 nor the one it declares.
        """
        name = self.name_of(path)
        if name not in self.contents:
            if len(self.contents) >= _MOST_FILES or path.stat().st_size > _MOST_BYTES:
                raise UsageError(
                    f"{name or self.main.name}: the draft is larger than {_MOST_FILES} files or "
                    f"{_MOST_BYTES >> 20} MiB a file. Check its chapters one by one."
                )
            self.contents[name] = path.read_bytes()
        return self.decode(name, self.contents[name])

    def decode(self, name: str, data: bytes) -> str:
        """Return the text of bytes, as `read`."""
        declared = _INPUT_ENCODING.search(self.contents.get("", b""))
        encoding = declared[1].decode().lower() if declared is not None else "utf8"
        try:
            return drop_controls(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            if not encoding.startswith("utf8"):
                known = _ENCODINGS.get(encoding, encoding)
                return drop_controls(data.decode(known, errors="replace"))
            line = data.count(b"\n", 0, error.start) + 1
            raise UsageError(
                f"{name or self.main.name}: line {line} is not UTF-8 (byte {error.start}). Save "
                "the file in the encoding UTF-8, or declare its encoding with "
                r"\usepackage[latin1]{inputenc}, and run the command again."
            ) from error


_NAMES_FILES = re.compile(
    r"""
    (?<!\\)%[^\n]*
  | \\(?:(?:sub)?import\*?\s*\{(?P<folder>[^{}]*)\}\s*\{(?P<part>[^{}]*)\}
    | (?P<command>input|include|subfile|InputIfFileExists|bibliography|addbibresource|addglobalbib
      |usepackage|RequirePackage|documentclass|LoadClass)\*?\s*(?:\[(?P<options>[^\[\]]*)\])?\s*
      (?:\{(?P<names>[^{}]*)\}|(?P<bare>[^\s\\{}\[\]%]+)))
    """,
    re.VERBOSE,
)
_SUBFILE = re.compile(rb"(?m)^[^%\n]*\\documentclass\[[^\]]*\]\{subfiles\}")
_SUFFIX_OF = {
    "bibliography": ".bib", "addbibresource": ".bib", "addglobalbib": ".bib",
    "usepackage": ".sty", "RequirePackage": ".sty", "documentclass": ".cls", "LoadClass": ".cls",
}  # fmt: skip


def latex_files(main: Path, root: Path | None = None) -> tuple[Path, ...]:
    """Return the files that a draft in LaTeX names and that exist, the main file first.

    Args:
        root: nothing outside this folder counts; the folder above that of `main` where None.
    """
    files = DraftFiles(main, root or main.absolute().parent.parent)
    found = {main: ""}
    waiting = [main]
    while waiting and len(found) < _MOST_FILES:
        path = waiting.pop()
        if path.suffix.lower() == ".bib":
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        for named in _named_files(text, files, found[path]):
            if named not in found and named != main.resolve():
                found[named] = files.name_of(named)
                waiting.append(named)
    if not any(path.suffix.lower() == ".bib" for path in found):
        printed = files.find(main.stem, ".bbl")
        found |= {printed: ""} if printed is not None else {}
    return tuple(found)


def included_files(paths: Iterable[Path]) -> set[Path]:
    """Return the files that any of these drafts in LaTeX includes, resolved."""
    return {
        part.resolve()
        for path in paths
        # A chapter that can be typeset alone names the main file, which includes it.
        if not _SUBFILE.search(path.read_bytes())
        for part in latex_files(path)[1:]
    }


def _named_files(text: str, files: DraftFiles, name: str) -> Iterator[Path]:
    for match in _NAMES_FILES.finditer(text):
        suffix = _SUFFIX_OF.get(match["command"] or "", ".tex")
        written = (match["names"] or match["bare"] or "").split(",")
        if match["folder"] is not None:
            written = [f"{match['folder'].rstrip('/')}/{match['part']}"]
        elif match["command"] == "documentclass" and written == ["subfiles"]:
            written, suffix = [match["options"] or ""], ".tex"
        found = (files.find(one, suffix, name) for one in written)
        yield from (path for path in found if path is not None)


# Macros.

_MOST_EXPANSIONS = 100_000
_MOST_TOKENS = 4_000_000
# The conditions of TeX that end with \fi; those of packages take their branches in braces.
_CONDITIONS = names(
    "if ifcat ifx ifnum ifdim ifodd ifvmode ifhmode ifmmode ifinner ifcase iftrue iffalse "
    "ifdefined ifcsname ifeof ifhbox ifvbox ifvoid ifpdf ifxetex ifluatex ifPDFTeX ifXeTeX "
    "ifLuaTeX if@twoside if@twocolumn ifundefined"
)
_NO_VALUE: Token = Token("word", "NoValue", Place("", 0))
_TRUE: Token = Token("word", "BooleanTrue", Place("", 0))
_CHOICE = re.compile("If(Boolean|Value|NoValue)(TF|T|F)")


_Parameter = tuple[str, tuple[Token, ...]]


@dataclass(frozen=True, slots=True)
class Macro:
    """A command that a draft defines.

    Args:
        parameters: of each argument what kind it is: `m` in braces, `o` in brackets with a
            default, `p` in round ones, `s` a star, `d` up to the tokens of its default.
        body: what stands for it.
    """

    parameters: tuple[_Parameter, ...]
    body: tuple[Token, ...]


class TokenReader:
    """Reads tokens, one after another, with macros expanded.

    Args:
        files: that are read when the stream comes to them.
    """

    def __init__(self, files: DraftFiles) -> None:
        self.files = files
        self.macros: dict[str, Macro] = {}
        self.environments: dict[str, tuple[Macro, tuple[Token, ...]]] = {}
        self.conditions: dict[str, bool] = {}
        self.aliases: dict[str, str] = {}
        self.open_files: list[str] = []  # the outermost first
        self._tokens: list[Token] = []  # to be read, the last one first
        self._expansions = self._pushed = 0
        self._is_full = False
        macros = Path(__file__).with_name("latex_macros.tex")
        self.push(tokenize(macros.read_text(encoding="utf-8")))
        while (token := self.next()) is not None:
            self.define(token.text)
        self._pushed = 0

    def push(self, tokens: Sequence[Token]) -> None:
        """Let these tokens be read next."""
        self._pushed += len(tokens)
        self._tokens += reversed(tokens)

    def push_file(self, text: str, file: str) -> None:
        """Let a file be read next."""
        self.open_files.append(file)
        self.push([*tokenize(text, file), Token("end", file, Place(file, 0))])

    def next(self) -> Token | None:
        """Return the next token as it is written; None at the end."""
        while self._tokens:
            token = self._tokens.pop()
            if token.kind != "end":
                return token
            self.open_files.pop()
        return None

    def end_file(self) -> None:
        r"""Read no more of the innermost file, as \endinput."""
        count = len(self.open_files)
        while len(self.open_files) == count and self.next() is not None:
            continue

    def apart(self, tokens: Sequence[Token], work: Callable[[], None]) -> None:
        """Do `work` on these tokens alone."""
        kept, self._tokens = self._tokens, list(reversed(tokens))
        try:
            work()
        finally:
            self._tokens = kept

    def take(self) -> Token | None:
        """Read the next token that is no space."""
        while (token := self.next()) is not None and token.kind == "space":
            continue
        return token

    def next_is(self, text: str, kind: TokenKind = "char") -> bool:
        """Say whether the next token that is no space is this one."""
        first = self.next()
        token = self.take() if first is not None and first.kind == "space" else None
        self.push([one for one in (first, token) if one is not None])
        token = token or first
        return token is not None and (token.kind, token.text) == (kind, text)

    def takes(self, text: str, kind: TokenKind = "char") -> bool:
        """Read the next token that is no space if it is this one; say whether it was."""
        found = self.next_is(text, kind)
        if found:
            self.take()
        return found

    def argument(self) -> list[Token]:
        """Read an argument in braces, or the one token that stands for it."""
        if self.takes("{"):
            return self.up_to("}") or []
        token = self.take()
        if token is None:
            return []
        if token.kind == "par" or (token.kind, token.text) == ("char", "}"):
            self.push([token])
            return []
        if token.kind == "text" and len(token.text) > 1:
            self.push([token._replace(text=token.text[1:])])
        return [token._replace(text=token.text[0])] if token.kind == "text" else [token]

    def option(self, opens: str = "[", closes: str = "]") -> list[Token] | None:
        """Read an argument in brackets; None where there is none."""
        if not self.takes(opens):
            return None
        read = self.up_to(closes, may_break=False)
        if read is None:  # never closed: it was no argument
            self.push([Token("text", opens, self._tokens[-1].place)] if self._tokens else [])
        return read

    def up_to(self, end: str, kind: str = "char", *, may_break: bool = True) -> list[Token] | None:
        """Read tokens up to one outside of braces; None, and all left unread, where there is none.

        Args:
            may_break: whether a blank line may come before it.
        """
        read: list[Token] = []
        depth = 0
        while (token := self.next()) is not None:
            if depth <= 0 and (token.kind, token.text) == (kind, end):
                return read
            read.append(token)
            if token.kind == "par" and not may_break:
                break
            if token.kind == "char":
                depth += (token.text == "{") - (token.text == "}")
        if end == "}":  # to TeX, too, a brace that is never closed runs to the end
            return read
        self.push(read)
        return None

    def environment(self, name: str) -> list[Token] | None:
        """Read what an environment holds, up to its end; None where that cannot be found."""
        read: list[Token] = []
        depth = 1
        while (token := self.next()) is not None:
            read.append(token)
            if token.kind == "word" and token.text in {"begin", "end"}:
                named = self.argument()
                if text_of(named) == name:
                    depth += 1 if token.text == "begin" else -1
                    if depth == 0:
                        return read[:-1]
                brace = Token("char", "{", token.place)
                read += [brace, *named, brace._replace(text="}")]
        self.push(read)
        return None

    # Definitions.

    def define(self, command: str) -> bool:
        """Read the definition that a command begins; False where it begins none."""
        if command in {"newcommand", "renewcommand", "providecommand", "DeclareRobustCommand"}:
            self.takes("*")
            name, macro = self._name(), self._macro()
            if command != "providecommand" or name not in self.macros:
                self.macros[name] = macro
        elif command in {"def", "gdef", "edef", "xdef"}:
            self._define_plainly()
        elif command.endswith("DocumentCommand"):
            name = self._name()
            self.macros[name] = Macro(_signature(self.argument()), tuple(self.argument()))
        elif command.endswith("DocumentEnvironment"):
            name = text_of(self.argument())
            macro = Macro(_signature(self.argument()), tuple(self.argument()))
            self.environments[name] = (macro, tuple(self.argument()))
        elif command in {"newenvironment", "renewenvironment"}:
            self.takes("*")
            name = text_of(self.argument())
            self.environments[name] = (self._macro(), tuple(self.argument()))
        elif command in {"DeclareMathOperator", "DeclareSIUnit", "DeclareSIPrefix"}:
            self.takes("*")
            self.option()
            name = self._name()
            self.macros[name] = Macro((), tuple(self.argument()))
        elif command == "let":
            name, _, meant = self._name(), self.takes("=", "text"), self._name()
            if meant in self.macros:
                self.macros[name] = self.macros[meant]
            elif name != meant:
                self.aliases[name] = self.aliases.get(meant, meant)
        elif command == "newif":
            self.conditions[self._name().removeprefix("if")] = False
        else:
            return False
        return True

    def _name(self) -> str:
        words = [token for token in self.argument() if token.kind != "space"]
        return words[0].text if words and words[0].kind == "word" else ""

    def _macro(self) -> Macro:
        count, default = text_of(self.option() or []), self.option()
        parameters: list[_Parameter] = [("m", ())] * (int(count[0]) if count.isdecimal() else 0)
        if default is not None:
            parameters[:1] = [("o", tuple(default))]
        return Macro(tuple(parameters), tuple(self.argument()))

    def _define_plainly(self) -> None:
        name, text = self._name(), self.up_to("{", may_break=False)
        if text is None:
            return
        body = tuple(self.up_to("}") or ())
        text = [token for token in text if token.kind != "space"]
        numbered = [at for at, token in enumerate(text) if token.kind == "parameter"]
        if text and numbered[:1] != [0]:
            return  # text before the first argument: its arguments cannot be known
        parameters: list[_Parameter] = []
        for at, following in pairwise([*numbered, len(text)]):
            between = tuple(text[at + 1 : following])
            parameters.append(("d", between) if between else ("m", ()))
        self.macros[name] = Macro(tuple(parameters), body)

    def call(self, macro: Macro, place: Place) -> None:
        """Read the arguments of a macro and put its body before what is to be read."""
        given: list[Sequence[Token]] = []
        for kind, default in macro.parameters:
            if kind == "s":
                given.append([_TRUE] if self.takes("*") else [])
            elif kind == "o":
                option = self.option()
                given.append(default if option is None else option)
            elif kind == "p":
                given.append(self.option("(", ")") or [])
            elif kind == "d":
                given.append(self.up_to(default[0].text, default[0].kind) or [])
            else:
                given.append(self.argument())
        body: list[Token] = []
        for token in macro.body:
            if token.kind == "parameter" and token.text[:2] == "##":
                body.append(token._replace(text=token.text[1:]))  # of a macro that this defines
            elif token.kind == "parameter" and token.text[1:].isdigit():
                number = int(token.text[1:]) - 1
                body += given[number] if number < len(given) else []
            else:
                body.append(token._replace(place=place))
        self._expansions += 1
        if self._expansions <= _MOST_EXPANSIONS and self._pushed <= _MOST_TOKENS:
            self.push(body)
        elif not self._is_full:
            self._is_full = True
            self.files.warnings.append(
                f"{self.files.where(place)}: macros of the draft were expanded "
                f"{_MOST_EXPANSIONS:,} times, and are not from here on. Does one contain itself?"
            )

    # Conditions.

    def branch(self, command: str) -> bool:
        r"""Resolve \if…, \\else and \\fi; False where the command is none of them.

        A condition that only TeX could tell counts as true.
        """
        if command == "else":
            self._skip_branch()
        elif self._is_condition(command):
            if not self.conditions.get(command[2:], command != "iffalse"):
                self._skip_branch(may_stop_at_else=True)
        elif command.endswith("true") and command[:-4] in self.conditions:
            self.conditions[command[:-4]] = True
        elif command.endswith("false") and command[:-5] in self.conditions:
            self.conditions[command[:-5]] = False
        elif (choice := _CHOICE.fullmatch(command)) is not None:
            given = self.argument()
            holds = (given[:1] in ([_NO_VALUE], [_TRUE])) != (choice[1] == "Value")
            branches = {letter: self.argument() for letter in choice[2]}
            self.push(branches.get("T" if holds else "F", []))
        else:
            return command == "fi"
        return True

    def _is_condition(self, command: str) -> bool:
        return command in _CONDITIONS or (command[:2] == "if" and command[2:] in self.conditions)

    def _skip_branch(self, *, may_stop_at_else: bool = False) -> None:
        depth = 0
        while (token := self.next()) is not None and depth >= 0:
            if token.kind == "word" and self._is_condition(token.text):
                depth += 1
            elif (token.kind, token.text) == ("word", "fi"):
                depth -= 1
                if depth < 0:
                    return
            elif token.text == "else" and depth == 0 and may_stop_at_else:
                return


def text_of(tokens: Iterable[Token]) -> str:
    """Return tokens as they are written, spaces at the ends left out."""
    written = (
        f"\\{token.text}{' ' * token.text.isalpha()}" if token.kind == "word" else token.text
        for token in tokens
    )
    return "".join(written).replace("\n", " ").strip()


def _signature(tokens: Sequence[Token]) -> tuple[_Parameter, ...]:
    r"""Return the parameters of \NewDocumentCommand: `m`, `o`, `O{default}`, `s`."""
    defaults = {"o": (_NO_VALUE,)}
    return tuple(
        (kind.lower() if kind in "oOsp" else "m", defaults.get(kind, tuple(tokenize(default))))
        for kind, default in re.findall(r"([A-Za-z])(?:\{([^{}]*)\})?", text_of(tokens))
    )
