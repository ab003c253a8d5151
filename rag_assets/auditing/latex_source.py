"""LaTeX as a stream of tokens: files read, macros expanded, comments and conditions resolved."""

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from rag_assets.model import UsageError, drop_controls

# One file as tokens.

TokenKind = Literal["text", "space", "newline", "par", "word", "char", "parameter", "verb", "code"]


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
  | (?P<newline>[ \t]*\n[ \t]*)
  | (?P<space>[ \t]+)
  | \\(?P<word>[A-Za-z@]+)[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?
  | \\(?P<symbol>.)
  | (?P<char>\$\$?|[{{}}\[\]&~^_])
  | (?P<parameter>\#\d|\#+)
  | (?P<text>[^\\{{}}\[\]&~^_$%\#\s]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CODE_OPTIONS = re.compile(r"(?:\s*\[(?:[^\[\]{}]|\{[^{}]*\})*\]|\{\w*\})*[ \t]*\n?")
_CODE_OPTION = re.compile(r"\b(label|caption)\s*=\s*(\{[^{}]*\}|[^,\[\]]+)")
_LINE_END = re.compile(r"\r\n?|\n")
_NO_TEXT = frozenset({"comment", "filecontents", "filecontents*"})


def tokenize(text: str, file: str = "") -> list[Token]:
    """Return the tokens of a file; comments and what is never typeset are left out.

    Args:
        file: relative to the folder of the main file.
    """
    text = _LINE_END.sub("\n", text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    tokens = []
    for match in _TOKEN.finditer(text):
        place = Place(file, bisect_right(starts, match.start()))
        kind, written = match.lastgroup, match.group()
        if match["name"] is not None:
            if match["name"] not in _NO_TEXT:
                options = _CODE_OPTIONS.match(match["code"])
                start = options.end() if options is not None else 0
                tokens.append(Token("code", match["code"][start:].rstrip(), place))
                # A listing is numbered by itself; what it is called is known all the same.
                for key, value in _CODE_OPTION.findall(match["code"][:start]):
                    command = (
                        f"\\{'lstlabel' if key == 'label' else 'caption'}{{{value.strip('{}')}}}"
                    )
                    tokens += (token._replace(place=place) for token in tokenize(command, file))
        elif match["verb"] is not None or match["braced"] is not None:
            tokens.append(Token("verb", match["verb"] or match["braced"] or "", place))
        elif match["link"] is not None:
            address = re.sub(r"\\([%#&_~{}])", r"\1", match["address"])
            if match["link"] != "href":
                tokens.append(Token("text", address, place))
        elif kind in {"word", "symbol"}:
            tokens.append(Token("word", match[kind], place))
        elif kind == "after_comment" and match[kind]:
            tokens.append(Token("par", "\n\n", place))
        elif kind in {"par", "newline", "space", "char", "parameter", "text"}:
            tokens.append(Token(kind, written, place))  # type: ignore[arg-type]
    return tokens


# The files of a draft.

_MOST_FILES = 1_000
_MOST_BYTES = 32 * 1024 * 1024
# \input reads nothing else: a draft from elsewhere must not show what lies on this computer.
_SUFFIXES = frozenset(
    {".tex", ".ltx", ".latex", ".txt", ".sty", ".cls", ".cfg", ".def", ".bib", ".bbl"}
)
_INPUT_ENCODING = re.compile(rb"\\(?:usepackage|RequirePackage)\[(\w+)\]\{inputenc\}")
_ENCODINGS = {
    "latin1": "latin-1", "latin9": "iso8859-15", "ansinew": "cp1252", "cp1252": "cp1252",
    "applemac": "mac_roman", "gbk": "gbk", "gb2312": "gbk", "big5": "big5",
}  # fmt: skip


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
        encoding = _ENCODINGS.get(declared[1].decode().lower()) if declared else None
        try:
            return drop_controls(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            if encoding is not None:
                return drop_controls(data.decode(encoding, errors="replace"))
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
        if match["folder"] is not None:
            names = [f"{match['folder'].rstrip('/')}/{match['part']}"]
        else:
            names = (match["names"] or match["bare"] or "").split(",")
        wanted = [(one, suffix) for one in names]
        if match["command"] == "documentclass" and names == ["subfiles"]:
            wanted = [(match["options"] or "", ".tex")]
        for one, ending in wanted:
            path = files.find(one, ending, name)
            if path is not None:
                yield path


# Macros.

_MOST_EXPANSIONS = 100_000
_MOST_TOKENS = 4_000_000
# The conditions of TeX that end with \fi; those of packages take their branches in braces.
_CONDITIONS = frozenset(
    [
        "if",
        "ifcat",
        "ifx",
        "ifnum",
        "ifdim",
        "ifodd",
        "ifvmode",
        "ifhmode",
        "ifmmode",
        "ifinner",
        "ifcase",
        "iftrue",
        "iffalse",
        "ifdefined",
        "ifcsname",
        "ifeof",
        "ifhbox",
        "ifvbox",
        "ifvoid",
        "ifpdf",
        "ifxetex",
        "ifluatex",
        "ifPDFTeX",
        "ifXeTeX",
        "ifLuaTeX",
        "if@twoside",
        "if@twocolumn",
        "ifundefined",
    ]
)
_NO_VALUE: Token = Token("word", "NoValue", Place("", 0))
_SPACES = frozenset({"space", "newline"})


@dataclass(frozen=True, slots=True)
class Macro:
    """A command that a draft defines.

    Args:
        parameters: of each argument what kind it is: `m` in braces, `o` in brackets with a
            default, `p` in round ones, `s` a star, `d` up to the tokens of its default.
        body: what stands for it.
    """

    parameters: tuple[tuple[str, tuple[Token, ...]], ...]
    body: tuple[Token, ...]


class TokenReader:
    """Reads tokens, one after another, with macros expanded.

    Args:
        files: that are read when the stream comes to them.
    """

    def __init__(self, files: DraftFiles) -> None:
        self.files = files
        self.macros: dict[str, Macro] = dict(_built_in())
        self.environments: dict[str, tuple[Macro, tuple[Token, ...]]] = {}
        self.conditions: dict[str, bool] = {}
        self.aliases: dict[str, str] = {}
        # Of each source of tokens: the tokens, how many are read, and the file they are from.
        self._stack: list[tuple[list[Token], list[int], str | None]] = []
        self._expansions = 0
        self._pushed = 0
        self._is_full = False

    @property
    def open_files(self) -> list[str]:
        """The files that are being read, the outermost first."""
        return [name for _, _, name in self._stack if name is not None]

    def push(self, tokens: Sequence[Token], file: str | None = None) -> None:
        """Let these tokens be read next."""
        self._pushed += len(tokens)
        self._stack.append((list(tokens), [0], file))

    def next(self) -> Token | None:
        """Return the next token as it is written; None at the end."""
        while self._stack:
            tokens, at, _ = self._stack[-1]
            if at[0] < len(tokens):
                at[0] += 1
                return tokens[at[0] - 1]
            self._stack.pop()
        return None

    def end_file(self) -> None:
        r"""Read no more of the innermost file, as \endinput."""
        while self._stack and self._stack[-1][2] is None:
            self._stack.pop()
        if self._stack:
            self._stack.pop()

    def apart(self, tokens: Sequence[Token], work: Callable[[], None]) -> None:
        """Do `work` on these tokens alone."""
        kept, self._stack = self._stack, []
        self.push(tokens)
        try:
            work()
        finally:
            self._stack = kept

    def peek(self) -> Token | None:
        """Return the next token that is no space, without reading it."""
        skipped = []
        token = self.next()
        while token is not None and token.kind in _SPACES:
            skipped.append(token)
            token = self.next()
        if token is not None:
            skipped.append(token)
        if skipped:
            self.push(skipped)
        return token

    def takes(self, text: str, kind: TokenKind = "char") -> bool:
        """Read the next token that is no space if it is this one; say whether it was."""
        token = self.peek()
        if token is None or token.kind != kind or token.text != text:
            return False
        while (token := self.next()) is not None and token.kind in _SPACES:
            continue
        return True

    def takes_star(self) -> bool:
        """Read a star behind a command; say whether there was one."""
        token = self.peek()
        if token is None or token.kind != "text" or not token.text.startswith("*"):
            return False
        self.takes(token.text, "text")
        if token.text != "*":
            self.push([token._replace(text=token.text[1:])])
        return True

    def argument(self) -> list[Token]:
        """Read an argument in braces, or the one token that stands for it."""
        if self.takes("{"):
            return self._up_to_brace()
        token = self.peek()
        if token is None or token.kind == "par" or (token.kind == "char" and token.text == "}"):
            return []
        self.takes(token.text, token.kind)
        if token.kind == "text" and len(token.text) > 1:
            self.push([token._replace(text=token.text[1:])])
            token = token._replace(text=token.text[0])
        return [token]

    def option(self, opens: str = "[", closes: str = "]") -> list[Token] | None:
        """Read an argument in brackets; None where there is none."""
        token = self.peek()
        if token is None or token.kind not in {"char", "text"} or token.text[:1] != opens:
            return None
        self.takes(token.text, token.kind)
        read: list[Token] = []
        if len(token.text) > 1:
            self.push([token._replace(text=token.text[1:])])
        depth, first = 0, token
        while (token := self.next()) is not None and token.kind != "par":
            depth += (token.text == "{") - (token.text == "}") if token.kind == "char" else 0
            if depth <= 0 and token.kind in {"char", "text"} and closes in token.text:
                before, _, after = token.text.partition(closes)
                read += [token._replace(text=before)] if before else []
                if after:
                    self.push([token._replace(text=after)])
                return read
            read.append(token)
        # Never closed: it was no argument.
        self.push([first._replace(text=opens, kind="text"), *read, *([token] if token else [])])
        return None

    def _up_to_brace(self) -> list[Token]:
        read: list[Token] = []
        depth = 1
        while (token := self.next()) is not None:
            if token.kind == "char":
                depth += (token.text == "{") - (token.text == "}")
                if depth == 0:
                    break
            read.append(token)
        return read

    def up_to(
        self, is_end: Callable[[Token], bool], *, may_break: bool = True
    ) -> list[Token] | None:
        """Read tokens up to one outside of braces; None, and all left unread, where there is none.

        Args:
            may_break: whether a blank line may come before it.
        """
        read: list[Token] = []
        depth = 0
        while (token := self.next()) is not None:
            if depth <= 0 and is_end(token):
                return read
            read.append(token)
            if token.kind == "par" and not may_break:
                break
            if token.kind == "char":
                depth += (token.text == "{") - (token.text == "}")
        self.push(read)
        return None

    def environment(self, name: str) -> list[Token] | None:
        """Read what an environment holds, up to its end; None where that cannot be found."""
        read: list[Token] = []
        depth = 1
        while (token := self.next()) is not None:
            read.append(token)
            if token.kind != "word" or token.text not in {"begin", "end"}:
                continue
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
            self.takes_star()
            name = self._name()
            macro = self._macro()
            if name and not (command == "providecommand" and name in self.macros):
                self.macros[name] = macro
        elif command in {"def", "gdef", "edef", "xdef"}:
            self._define_plainly()
        elif command in {
            "NewDocumentCommand", "RenewDocumentCommand", "ProvideDocumentCommand",
            "DeclareDocumentCommand",
        }:  # fmt: skip
            name = self._name()
            self.macros[name] = Macro(_signature(self.argument()), tuple(self.argument()))
        elif command in {"newenvironment", "renewenvironment"}:
            self.takes_star()
            name = text_of(self.argument())
            self.environments[name] = (self._macro(), tuple(self.argument()))
        elif command in {"DeclareMathOperator", "DeclareSIUnit", "DeclareSIPrefix"}:
            self.takes_star()
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
        words = self.argument()
        return words[0].text if words and words[0].kind == "word" else ""

    def _macro(self) -> Macro:
        count = text_of(self.option() or [])
        default = self.option()
        number = int(count) if count.isdigit() else 0
        kinds = [("m", ())] * min(number, 9)
        parameters: list[tuple[str, tuple[Token, ...]]] = list(kinds)
        if default is not None and parameters:
            parameters[0] = ("o", tuple(default))
        return Macro(tuple(parameters), tuple(self.argument()))

    def _define_plainly(self) -> None:
        name = self._name()
        text: list[Token] = []
        while (token := self.peek()) is not None and token.kind != "par":
            if token.kind == "char" and token.text == "{":
                break
            self.takes(token.text, token.kind)
            text.append(token)
        body = tuple(self.argument())
        numbered = [place for place, token in enumerate(text) if token.kind == "parameter"]
        if numbered[:1] not in ([], [0]):
            return  # text before the first argument: what it is called with cannot be told
        parameters: list[tuple[str, tuple[Token, ...]]] = []
        for place, following in pairwise([*numbered, len(text)]):
            between = tuple(text[place + 1 : following])
            parameters.append(("d", between) if between else ("m", ()))
        self.macros[name] = Macro(tuple(parameters), body)

    def expand(self, token: Token) -> bool:
        """Put what a macro stands for before what is to be read; False where it is no macro."""
        macro = self.macros.get(token.text)
        if macro is None or self._is_full:
            return False
        self.call(macro, token.place)
        return True

    def call(self, macro: Macro, place: Place) -> None:
        """Read the arguments of a macro and put its body before what is to be read."""
        given = [self._given(*parameter) for parameter in macro.parameters]
        self._expansions += 1
        body: list[Token] = []
        for token in macro.body:
            if token.kind == "parameter" and token.text[1:].isdigit():
                number = int(token.text[1:]) - 1
                body += given[number] if number < len(given) else []
            else:
                body.append(token._replace(place=place))
        if self._expansions > _MOST_EXPANSIONS or self._pushed > _MOST_TOKENS:
            self._is_full = True
            self.files.warnings.append(
                f"{self.files.where(place)}: macros of the draft were expanded "
                f"{_MOST_EXPANSIONS:,} times, and are not from here on. Does one contain itself?"
            )
            return
        self.push(body)

    def _given(self, kind: str, default: tuple[Token, ...]) -> list[Token]:
        if kind == "s":
            return [Token("word", "BooleanTrue", Place("", 0))] if self.takes_star() else []
        if kind == "o":
            given = self.option()
            return list(default) if given is None else given
        if kind == "p":
            return self.option("(", ")") or []
        if kind == "d":
            first = default[0]
            return self.up_to(lambda t: (t.kind, t.text) == (first.kind, first.text)) or []
        return self.argument()

    # Conditions.

    def branch(self, command: str) -> bool:
        r"""Resolve \if…, \\else and \\fi; False where the command is none of them.

        A condition that only TeX could tell counts as true.
        """
        if command == "else":
            self._skip_branch()
        elif self._is_condition(command):
            is_true = self.conditions.get(command.removeprefix("if"), command != "iffalse")
            if not is_true:
                self._skip_branch(may_stop_at_else=True)
        elif command.endswith("true") and command[:-4] in self.conditions:
            self.conditions[command[:-4]] = True
        elif command.endswith("false") and command[:-5] in self.conditions:
            self.conditions[command[:-5]] = False
        elif command in {"IfNoValueTF", "IfBooleanTF", "IfNoValueT", "IfNoValueF", "IfValueTF"}:
            self._choose(command)
        else:
            return command == "fi"
        return True

    def _is_condition(self, command: str) -> bool:
        return command in _CONDITIONS or (
            command.startswith("if") and command[2:] in self.conditions
        )

    def _skip_branch(self, *, may_stop_at_else: bool = False) -> None:
        depth = 0
        while (token := self.next()) is not None:
            if token.kind != "word":
                continue
            if self._is_condition(token.text):
                depth += 1
            elif token.text == "fi":
                depth -= 1
                if depth < 0:
                    return
            elif token.text == "else" and depth == 0 and may_stop_at_else:
                return

    def _choose(self, command: str) -> None:
        given = self.argument()
        holds = bool(given) and given[0].text in {"NoValue", "BooleanTrue"}
        if command == "IfValueTF":
            holds = not holds
        chosen = self.argument() if command != "IfNoValueF" or not holds else []
        if command.endswith("TF"):
            other = self.argument()
            chosen = chosen if holds else other
        elif command == "IfNoValueT" and not holds:
            chosen = []
        elif command == "IfNoValueF" and holds:
            self.argument()
        self.push(chosen)


def text_of(tokens: Iterable[Token]) -> str:
    """Return tokens as they are written, spaces at the ends left out."""
    return "".join(
        f"\\{token.text}"
        if token.kind == "word"
        else " "
        if token.kind == "newline"
        else token.text
        for token in tokens
    ).strip()


def _signature(tokens: Sequence[Token]) -> tuple[tuple[str, tuple[Token, ...]], ...]:
    r"""Return the parameters of \NewDocumentCommand: `m`, `o`, `O{default}`, `s`."""
    found: list[tuple[str, tuple[Token, ...]]] = []
    defaults: list[Token] = []
    depth = 0
    for token in tokens:
        if token.kind == "char" and token.text in "{}":
            depth += 1 if token.text == "{" else -1
            if depth == 0 and found:
                found[-1] = ("o", tuple(defaults))
                defaults = []
        elif depth:
            defaults.append(token)
        elif token.kind == "text":
            for letter in token.text:
                kind = {"O": "o"}.get(letter, letter) if letter in "oOsp" else "m"
                found.append((kind, (_NO_VALUE,) if letter == "o" else ()))
    return tuple(found)


# Commands of packages of whose arguments not all are text; \D is \NewDocumentCommand.
_BUILT_IN = r"""
\D\textcolor{omm}{#3} \D\colorbox{omm}{#3} \D\fcolorbox{mmm}{#3} \D\foreignlanguage{omm}{#3}
\D\parbox{ooomm}{#5} \D\raisebox{moom}{#4} \D\makebox{oom}{#3} \D\framebox{oom}{#3}
\D\scalebox{mom}{#3} \D\resizebox{smmm}{#4} \D\rotatebox{omm}{#3} \D\multirow{omomom}{#6}
\D\hyperref{om}{#2} \D\hyperlink{mm}{#2} \D\hypertarget{mm}{#2} \D\texorpdfstring{mm}{#1}
\D\stackrel{mm}{#2} \D\overset{mm}{#2} \D\underset{mm}{#2} \D\captionof{smm}{\caption{#3}}
\D\subfloat{om}{\caption{#1}#2} \D\subcaptionbox{mom}{\caption{#1}#3}
\D\bicaption{mm}{\caption{#1}\caption{#2}} \D\sidenote{om}{\footnote{#2}}
\D\footnotetext{om}{\footnote{#2}} \D\enquote{sm}{“#2”} \D\foreignquote{smm}{“#3”}
\D\ifthenelse{mmm}{#2} \D\ifdefempty{mmm}{#2} \D\ifstrempty{mmm}{#2} \D\ifdef{mmm}{#2}
\D\textquote{oom}{“#3”} \D\blockquote{oom}{“#3”}
\D\textcquote{oomom}{“#5”~\IfNoValueTF{#2}{\cite[#1]{#3}}{\cite[#1][#2]{#3}}}
\D\blockcquote{oomom}{“#5”~\IfNoValueTF{#2}{\cite[#1]{#3}}{\cite[#1][#2]{#3}}}
\D\ensuremath{m}{$#1$} \D\nicefrac{omm}{\frac{#2}{#3}}
\D\sfrac{omm}{\frac{#2}{#3}} \D\hspace{sm}{~} \D\citetext{m}{(#1)}
\D\footnotemark{o}{} \D\vspace{sm}{} \D\includegraphics{soom}{} \D\setlength{mm}{}
\D\addtolength{mm}{} \D\setcounter{mm}{} \D\addtocounter{mm}{} \D\newcounter{mo}{}
\D\newlength{m}{} \D\pagestyle{m}{} \D\thispagestyle{m}{} \D\pagenumbering{m}{}
\D\bibliographystyle{m}{} \D\hypersetup{m}{} \D\sisetup{m}{} \D\graphicspath{m}{} \D\lstset{m}{}
\D\captionsetup{omo}{} \D\index{om}{} \D\glsadd{om}{} \D\definecolor{mmm}{} \D\color{om}{}
\D\rowcolor{om}{} \D\cellcolor{om}{} \D\fontsize{mm}{} \D\fontfamily{m}{}
\D\addcontentsline{mmm}{} \D\markboth{mm}{} \D\markright{m}{} \D\thanks{m}{} \D\todo{om}{}
\D\missingfigure{om}{} \D\marginpar{om}{} \D\marginnote{omo}{} \D\selectlanguage{m}{}
\D\phantom{m}{} \D\hphantom{m}{} \D\vphantom{m}{} \D\rule{omm}{} \D\linespread{m}{}
\D\setstretch{m}{} \D\lstinputlisting{om}{} \D\inputminted{omm}{} \D\verbatiminput{m}{}
\D\author{om}{} \D\date{m}{} \D\institute{m}{} \D\affil{om}{} \D\affiliation{om}{} \D\email{m}{}
\D\address{om}{} \D\today{}{} \D\AtBeginDocument{m}{} \D\AtEndDocument{m}{} \D\IfFileExists{mmm}{}
\D\cline{m}{} \D\cmidrule{opm}{} \D\nocite{m}{} \D\defcitealias{mm}{} \D\citestyle{om}{}
\D\citesetup{m}{} \D\setcitestyle{m}{} \D\DeclareFieldFormat{som}{}
\D\DeclareCiteCommand{somoommmm}{} \D\includeonly{m}{} \D\newcolumntype{mom}{}
\D\-{}{} \D\toprule{o}{} \D\bottomrule{o}{}
\D\addlinespace{o}{} \D\specialrule{mmm}{}
"""


@cache
def _built_in() -> dict[str, Macro]:
    found: dict[str, Macro] = {}
    tokens = [token for token in tokenize(_BUILT_IN) if token.kind not in _SPACES]
    commands = [place for place, token in enumerate(tokens) if token.text == "D"]
    for place, following in zip(commands, [*commands[1:], len(tokens)], strict=True):
        name, rest = tokens[place + 1].text, tokens[place + 2 : following]
        closes = next(at for at, token in enumerate(rest) if token.text == "}")
        found[name] = Macro(_signature(rest[1:closes]), tuple(rest[closes + 2 : -1]))
    return found
