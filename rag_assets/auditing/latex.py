"""A draft in LaTeX as Markdown, which the reader of drafts reads; every line keeps its place."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

from rag_assets.auditing.latex_source import (
    DraftFiles,
    Place,
    Token,
    TokenReader,
    latex_files,
    text_of,
    tokenize,
)
from rag_assets.auditing.latex_units import write_angle, write_number, write_unit
from rag_assets.auditing.references import (
    DraftSource,
    Entry,
    bibtex_entry,
    parse_entry,
    read_bibtex,
)
from rag_assets.model import EAST_ASIAN_RANGES, count_han, hash_bytes

# Text without the marks of LaTeX, piece by piece, as blocks of Markdown.

_EAST_ASIAN = re.compile(f"[{EAST_ASIAN_RANGES}]")
# What Markdown or the reader of citations would take for a mark of its own.
_MARKS = re.compile(r"[*`\\_{}@]|<(?=[A-Za-z/!]|$)|==|\[(?=\^)")
_BRACKETS = re.compile(r"[\[\]]")
_LINE_START = re.compile(r"\s*\d*([#>+\-=|]|(?<=\d)[.)](?=\s)|~~~)")
_LIGATURES = (
    ("---", "—"), ("--", "–"), ("\"`", "„"), ("\"'", "“"), (",,", "„"), ("``", "“"), ("''", "”"),
    ("?`", "¿"), ("!`", "¡"),
)  # fmt: skip
# Around the label of a reference until all labels are known.
_REF_OPENS, _REF_CLOSES = "\ue010", "\ue011"
_REF = re.compile(f"{_REF_OPENS}([^{_REF_CLOSES}]*){_REF_CLOSES}")

_Run = tuple[str, Place]


@dataclass(slots=True)
class _Block:
    """A paragraph, heading or item; a piece of code; the head of a table or a row below it."""

    prefix: str = ""
    runs: list[_Run] = field(default_factory=list)
    kind: Literal["words", "code", "head", "row"] = "words"


class _Output:
    """Collects blocks.

    Args:
        is_plain: text alone is wanted, and nothing in it is escaped.
    """

    def __init__(self, *, is_plain: bool = False) -> None:
        self.blocks: list[_Block] = []
        self.prefix = ""  # of quotations
        self.mark = ""  # of the item that begins
        self.waiting: list[_Block] = []  # floats, until the paragraph ends
        self._is_plain = is_plain
        self._open = False
        self._pending = ""
        self._last = ""
        self._single_quotes = 0

    @property
    def last(self) -> str:
        """The last character of the paragraph that is written."""
        return self._last

    def space(self, kind: str = " ") -> None:
        r"""Write a space: `\n` where a line ends, `\u2009` for a thin one."""
        if self._open and self._pending != " ":
            self._pending = kind

    def write(self, text: str, place: Place, *, in_math: bool = False) -> None:
        """Write words, with what is a mark to Markdown escaped."""
        if self._is_plain:
            self.write_marked(text, place)
            return
        text = _MARKS.sub(lambda match: f"\\{match.group()}", text)
        if in_math:
            text = _BRACKETS.sub(lambda match: f"\\{match.group()}", text)
        elif self._last == "]" and not self._pending and text[:1] in {"(", "["}:
            text = f"\\{text}"
        self.write_marked(text, place)

    def write_quoted(self, text: str, place: Place) -> None:
        """Write words of running text, whose quotation marks and dashes are typed in ASCII."""
        for typed, printed in _LIGATURES:
            text = text.replace(typed, printed)
        if "`" in text:
            self._single_quotes += text.count("`")
            text = text.replace("`", "‘")
        if self._single_quotes and (match := re.search(r"'(?!\w)", text)):
            self._single_quotes -= 1
            text = text[: match.start()] + "’" + text[match.end() :]
        self.write(text, place)

    def write_marked(self, text: str, place: Place) -> None:
        """Write Markdown."""
        if not text:
            return
        if not self._open:
            text = text.lstrip()
            if not text:
                return
            self.blocks.append(_Block(self.prefix + self.mark))
            self.mark, self._open = "", True
        runs = self.blocks[-1].runs
        gap = self._gap(text)
        if gap:
            runs.append((gap, place))
        runs.append((text, place))
        self._pending, self._last = "", text[-1]

    def _gap(self, text: str) -> str:
        if self._pending == "\n" and _EAST_ASIAN.match(self._last) and _EAST_ASIAN.match(text):
            return ""
        if self._pending == "\u2009":
            return "\u2009" if self._last.isdigit() and text[0].isdigit() else " "
        return " " if self._pending else ""

    def end(self) -> None:
        """End the paragraph."""
        self._open, self._pending, self._last, self._single_quotes = False, "", "", 0
        if self.waiting:
            self.blocks += self.waiting
            self.waiting = []

    def add(self, blocks: Sequence[_Block]) -> None:
        """Add blocks behind the paragraph."""
        self.end()
        self.blocks += blocks

    def runs(self) -> list[_Run]:
        """Return all blocks as one."""
        found: list[_Run] = []
        for block in self.blocks:
            if found and block.runs:
                found.append((" ", block.runs[0][1]))
            found += block.runs
        return found


# Commands and environments.

_LEVELS = {
    "part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5,
    "subparagraph": 6,
}  # fmt: skip
_COUNTED = ("chapter", "section", "subsection", "subsubsection")
_CITE = re.compile(r"(?!nocite)[A-Za-z]*[cC]ite[A-Za-z]*")
_LONGEST_NOTE = 200
_FLOATS = {
    "figure": "figure", "table": "table", "wrapfigure": "figure", "wraptable": "table",
    "sidewaysfigure": "figure", "sidewaystable": "table", "SCfigure": "figure",
    "subfigure": "", "subtable": "", "marginfigure": "figure", "margintable": "table",
}  # fmt: skip
_TABLES = {
    "tabular": 1, "tabularx": 2, "tabulary": 2, "tabularray": 1, "tblr": 1, "longtblr": 1,
    "longtable": 1, "supertabular": 1, "xltabular": 2, "array": 1,
}  # fmt: skip
_FORMULAS = frozenset(
    [
        "equation",
        "align",
        "gather",
        "multline",
        "eqnarray",
        "math",
        "displaymath",
        "flalign",
        "alignat",
        "dmath",
    ]
)
_QUOTES = frozenset(["quote", "quotation", "displayquote", "verse", "displaycquote"])
_LISTS = {"itemize": "- ", "enumerate": "1. ", "description": "- ", "compactitem": "- ",
          "compactenum": "1. ", "inparaenum": "", "inparaitem": "", "list": "- "}  # fmt: skip
_DRAWINGS = frozenset(
    [
        "tikzpicture",
        "picture",
        "pspicture",
        "pgfpicture",
        "forest",
        "axis",
        "algorithmic",
        "algorithm2e",
        "circuitikz",
        "tikzcd",
        "CCSXML",
    ]
)
# Arguments that other environments take before their text.
_ARGUMENTS = {
    "minipage": "ooom", "multicols": "m", "adjustbox": "m", "CJK": "mm", "CJK*": "mm",
    "spacing": "m", "otherlanguage": "m", "adjustwidth": "mm", "list": "mm", "wrapfigure": "omom",
    "wraptable": "omom", "subfigure": "om", "subtable": "om", "displaycquote": "oom",
}  # fmt: skip
_MOST_HEADS = 3
_ENDS = {
    "&": "&", "\\": "\\", "tabularnewline": "\\", "cr": "\\", "midrule": "rule", "hline": "rule",
    "endhead": "endhead", "endfirsthead": "endfirsthead", "endfoot": "endfoot",
    "endlastfoot": "endfoot",
}  # fmt: skip
_ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "d": "\u0323",
    "b": "\u0331", "r": "\u030a", "k": "\u0328", "hat": "\u0302", "bar": "\u0304",
    "tilde": "\u0303", "dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7",
}  # fmt: skip
_SPACED = frozenset([" ", "\n", "quad", "qquad", ";", ":", "enspace", "newline", "linebreak",
                     "hfill", "space", "nobreakspace", ">", "\t"])  # fmt: skip
_OWN_SYMBOLS = {
    "textdegree": "°", "degree": "°", "celsius": "°C", "textcelsius": "°C", "circ": "°",
    "sim": "~", "textasciitilde": "~", "textmu": "μ", "micro": "μ", "percent": "%", "euro": "€",
    "textquotesingle": "'", "mid": "|", "vert": "|", "lvert": "|", "rvert": "|", "Vert": "‖",
    "left": "", "right": "", "middle": "", "big": "", "Big": "", "bigg": "", "Bigg": "", "bigl": "",
    "bigr": "", "Bigl": "", "Bigr": "",
    "S": "§", "textsection": "§", "P": "¶", "ne": "≠", "dag": "†", "ddag": "‡", "copyright": "©",
    "pounds": "£", "flqq": "«", "frqq": "»", "glqq": "„", "grqq": "“", "LaTeX": "LaTeX",
    "TeX": "TeX", "BibTeX": "BibTeX", "textless": "<", "textgreater": ">", "textbar": "|",
    "textunderscore": "_", "textbraceleft": "{", "textbraceright": "}", "colon": ":", "arg": "arg",
    "det": "det", "Pr": "Pr", "Re": "Re", "Im": "Im", "upmu": "μ", "degreeCelsius": "°C",
    "permil": "‰", "ohm": "Ω", "checkmark": "✓",
    "increment": "Δ", "uppi": "π",
    "slash": "/", "textnormal": "", "minus": "−", "to": "→", "item": "", "BooleanTrue": "",
}  # fmt: skip
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_LOWERED = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
_SCRIPT = re.compile(r"[+\-−]?\d{1,6}[+\-−]?|[+\-−]")
_RELATION = re.compile(r"\s*(=|<|>|≤|≥|≈|≠|≡|∼|≪|≫|∈|±|×|→|~)\s*")
_PACKAGES = (".sty", ".cls", ".cfg")
_NUMBERING = re.compile(r"\W*(?:\d+|[A-Za-z]|[ivxIVX]{1,5})?\W*")
_NAMES = {
    "figure": ("figure", "图"), "table": ("table", "表"), "equation": ("equation", "式"),
    "section": ("section", "节"), "chapter": ("chapter", "章"), "appendix": ("appendix", "附录"),
}  # fmt: skip


def read_latex(path: Path, data: bytes | None = None, *, root: Path | None = None) -> DraftSource:
    """Read a draft in LaTeX, with the files that it includes and its bibliography.

    Args:
        path: of the main file.
        data: what it holds, where `path` alone is its name.
        root: nothing outside this folder is read; the folder above that of `path` where None.

    Raises:
        UsageError: a file is too large or of an encoding that is not declared.
    """
    files = DraftFiles(path, root or path.absolute().parent.parent)
    named = {""}
    if data is not None:
        files.contents[""] = data
    else:
        files.contents[""] = path.read_bytes()
        named = {files.name_of(file.resolve()) for file in latex_files(path, root)}
    text = files.decode("", files.contents[""])
    reader = _LatexReader(files)
    reader.push(tokenize(text), "")
    reader.run()
    source = reader.finish()
    unseen = sorted(files.contents.keys() - named)
    if unseen:
        told = (
            f"{path.name}: {', '.join(unseen)} {'is' if len(unseen) == 1 else 'are'} named by a "
            "macro. Verdicts on it are not marked as out of date when it changes."
        )
        source = replace(source, warnings=(*source.warnings, told))
    return source


class _LatexReader(TokenReader):
    """Writes Markdown from the tokens of a draft."""

    def __init__(self, files: DraftFiles) -> None:
        super().__init__(files)
        self._out = _Output()
        self._is_math = False
        self._depth = 0
        self._title: list[Token] = []
        self._raised: list[_Run] = []  # citations inside the formula that is read
        self._notes: list[_Block] = []
        self._note_count = 0
        self._lists: list[str] = []
        self._ends: list[tuple[str, list[Token]]] = []
        self._floats: list[str] = []
        self._counts = dict.fromkeys((*_COUNTED, "figure", "table", "equation"), 0)
        self._is_appendix = False
        self._here = ("", "")  # what a label names: its kind and number
        self._labels: dict[str, tuple[str, str]] = {}
        self._missing_labels: dict[str, Place] = {}
        self._refs: dict[str, Place] = {}
        self._theorems: dict[str, int] = {}
        self._boxed: dict[str, str] = {}  # of tcolorbox, with the prefix of their labels
        self._acronyms: dict[str, tuple[str, str]] = {}
        self._first_uses: dict[str, list[Token]] = {}
        self._used_terms: set[str] = set()
        self._glossary: list[tuple[str, list[Token]]] = []  # terms with their descriptions
        self._bibliographies: dict[str, Place] = {}
        self._entries: list[Entry] = []

    # Tokens.

    def run(self) -> None:
        """Read all tokens."""
        while (token := self.next()) is not None:
            if token.kind == "word":
                self._command(token)
            elif token.kind in {"space", "newline"}:
                self._out.space("\n" if token.kind == "newline" else " ")
            elif token.kind == "par":
                self._out.end()
            elif token.kind == "code":
                code = "~" * (3 + token.text.count("~~~"))
                block = _Block("", [(f"{code}\n{token.text}\n{code}", token.place)], "code")
                self._out.add([block])
            elif token.kind == "verb":
                ticks = "``" if "`" in token.text else "`"
                self._out.write_marked(f"{ticks}{token.text}{ticks}", token.place)
            elif token.kind == "char":
                self._character(token)
            elif self._is_math:
                self._out.write(token.text.replace("'", "′"), token.place)
            else:
                self._out.write_quoted(token.text, token.place)

    def _character(self, token: Token) -> None:
        if token.text in {"$", "$$"}:
            formula = self.up_to(
                lambda one: one.kind == "char" and one.text == token.text,
                may_break=token.text == "$$",
            )
            if formula is None:
                self._out.write("$", token.place)
            else:
                self._formula(formula, token.place, is_display=token.text == "$$")
        elif token.text in {"^", "_"} and self._is_math:
            self._script(token.text, token.place)
        elif token.text in {"~", "&"}:
            self._out.space()
        elif token.text not in {"{", "}"}:
            self._out.write(token.text, token.place)

    def _inside(self, tokens: Sequence[Token], output: _Output, *, is_math: bool) -> _Output:
        """Read tokens apart from the others."""
        kept, self._out = self._out, output
        was_math, self._is_math = self._is_math, is_math
        self._depth += 1
        try:
            # Deeper than a person nests: a file made to exhaust the stack is read no further.
            if self._depth < 40:
                self.apart(tokens, self.run)
        finally:
            self._out, self._is_math = kept, was_math
            self._depth -= 1
        return output

    def _inline(self, tokens: Sequence[Token]) -> list[_Run]:
        return self._inside(tokens, _Output(), is_math=self._is_math).runs()

    def _plain(self, tokens: Sequence[Token], *, is_math: bool = False) -> str:
        output = self._inside(tokens, _Output(is_plain=True), is_math=is_math)
        return "".join(text for text, _ in output.runs())

    # Formulas.

    def _formula(self, tokens: Sequence[Token], place: Place, *, is_display: bool = False) -> None:
        text = _RELATION.sub(r" \1 ", self._plain(tokens, is_math=True)).strip()
        if is_display:
            self._out.space()
        self._out.write(text, place, in_math=True)
        if self._depth == 0 or not self._is_math:
            for written, where in self._raised:  # growth$^{\cite{lee}}$
                self._out.write_marked(written, where)
            self._raised = []
        if is_display:
            self._out.space()

    def _script(self, mark: str, place: Place) -> None:
        text = self._plain(self.argument(), is_math=True).replace(" ", "")
        if text in {"°", "∘", "′", "°C"}:
            self._out.write(text.replace("∘", "°"), place)
        elif _SCRIPT.fullmatch(text):
            self._out.write(text.translate(_RAISED if mark == "^" else _LOWERED), place)
        elif re.search(r"[\w*†‡′+−-]", text):
            is_short = len(text) == 1 or (mark == "_" and text.isalnum())
            self._out.write(f"{mark}{text}" if is_short else f"{mark}({text})", place)

    def _fraction(self, token: Token) -> None:
        parts = [self._plain(self.argument(), is_math=True) for _ in range(2)]
        top, bottom = (
            f"({part})" if re.search(r"[\s+\-−·/]", part.strip()) else part.strip()
            for part in parts
        )
        self._out.write(f"{top}/{bottom}", token.place)

    # Commands.

    def _command(self, token: Token) -> None:
        name, place = token.text, token.place
        meant = token._replace(text=self.aliases.get(name, name))
        handler = self._handlers().get(meant.text)
        is_own = name in self.macros and name not in _STRUCTURE
        if handler is not None and not is_own:
            handler(self, meant)
        elif (is_own and self.expand(token)) or self.define(name) or self.branch(name):
            return
        elif _CITE.fullmatch(name):
            self._cite(name, place)
        elif name == ",":
            self._out.space("\u2009")
        elif name in _SPACED:
            self._out.space()
        elif name in _ACCENTS:
            base = self._plain(self.argument(), is_math=self._is_math)
            base = base.replace("ı", "i").replace("ȷ", "j")
            accented = unicodedata.normalize("NFC", base[:1] + _ACCENTS[name])
            self._out.write(accented + base[1:], place)
        elif name in _OWN_SYMBOLS:
            self._out.write(_OWN_SYMBOLS[name], place)
        elif len(name) == 1 and name in "%$&#{}_|":
            self._out.write(name.replace("|", "‖"), place)
        elif symbol := _symbol(name):
            self._out.write(symbol, place)
        else:
            self._unknown(place)

    def _unknown(self, place: Place) -> None:
        """Read the options of a command that nobody knows; what stands in its braces is text."""
        option = self.option()
        if option is None:
            return
        following = self.peek()
        if following is None or (following.kind, following.text) != ("char", "{"):
            bracket = Token("text", "[", place)
            self.push([bracket, *option, bracket._replace(text="]")])

    def _cite(self, name: str, place: Place) -> None:
        """Write a citation as it stands, with the marks of LaTeX gone from its notes."""
        is_star = self.takes_star()
        written = f"\\{name}{'*' * is_star}"
        volume = self.option() if "volcite" in name.lower() else None
        if "volcite" in name.lower():
            written += self._note(volume) if volume is not None else ""
            self.argument()  # number of the volume
        is_many = name.endswith("s")
        for _ in range(2 * is_many):
            if (note := self.option("(", ")")) is not None:
                written += f"({_flat(self._plain(note), '()')})"
        found = 0
        while True:
            notes = [note for _ in range(2) if (note := self.option()) is not None]
            following = self.peek()
            if following is None or (following.kind, following.text) != ("char", "{"):
                for note in notes:
                    bracket = Token("text", "[", place)
                    self.push([bracket, *note, bracket._replace(text="]")])
                break
            keys = ", ".join(
                key for key in re.split(r"\s*,\s*", text_of(self.argument())) if key.strip()
            )
            written += "".join(map(self._note, notes)) + f"{{{_flat(keys, '{}')}}}"
            found += 1
            if not is_many:
                break
        if found and self._is_math:
            self._raised.append((written, place))
        elif found:
            self._out.write_marked(written, place)

    def _note(self, tokens: Sequence[Token]) -> str:
        return f"[{_flat(self._plain(tokens), '[]{}')[:_LONGEST_NOTE]}]"

    def _section(self, token: Token) -> None:
        name = token.text
        is_counted = not self.takes_star() and name in _COUNTED
        self.option()
        title = self._inline(self.argument())
        if is_counted:
            self._counts[name] += 1
            lower = _COUNTED[_COUNTED.index(name) + 1 :]
            self._counts.update(dict.fromkeys(lower, 0))
            if name == "chapter":
                self._counts.update(figure=0, table=0, equation=0)
            first = "chapter" if self._counts["chapter"] else "section"
            numbers = [self._counts[one] for one in _COUNTED[_COUNTED.index(first) :]]
            shown = [str(number) for number in numbers if number]
            if self._is_appendix and shown:
                shown[0] = chr(ord("A") + (numbers[0] - 1) % 26)
            kind = "appendix" if self._is_appendix else name
            self._here = (kind.replace("sub", ""), ".".join(shown))
        self._heading(_LEVELS[name], title)

    def _heading(self, level: int, runs: list[_Run]) -> None:
        self._out.end()
        self._flush_notes()
        if runs:
            self._out.add([_Block(f"{'#' * level} ", runs)])

    def _flush_notes(self) -> None:
        if self._depth == 0:
            self._out.add(self._notes)
            self._notes = []

    def _footnote(self, token: Token) -> None:
        place = token.place
        self.option()
        tokens = self.argument()
        self._note_count += 1
        label = f"[^{self._note_count}]"
        runs = self._inline(tokens)
        if runs:
            self._out.write_marked(label, place)
            self._notes.append(_Block(f"{label}: ", runs))

    def _caption(self, _token: Token) -> None:
        is_star = self.takes_star()
        self.option()
        tokens = self.argument()
        kind = next((kind for kind in reversed(self._floats) if kind), "")
        if kind and not is_star and not (self._floats and not self._floats[-1]):
            self._step(kind)
        runs = self._inline(tokens)
        if runs:
            self._out.add([_Block(self._out.prefix, runs)])

    def _step(self, kind: str) -> None:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        chapter = self._counts["chapter"]
        number = str(self._counts[kind])
        if chapter:
            number = f"{chr(64 + chapter) if self._is_appendix else chapter}.{number}"
        self._here = (kind, number)

    def _label(self, token: Token) -> None:
        is_listing = token.text == "lstlabel"
        self._labels[text_of(self.argument())] = ("", "…") if is_listing else self._here

    def _ref(self, token: Token) -> None:
        name, place = token.text, token.place
        self.takes_star()
        self.option()
        keys = text_of(self.argument())
        if name in {"crefrange", "Crefrange"}:
            keys += f",{text_of(self.argument())}"
        is_han = bool(_EAST_ASIAN.match(self._out.last))
        for key in filter(None, (one.strip() for one in keys.split(","))):
            if name not in {"pageref", "vpageref", "nameref"}:
                self._refs.setdefault(key, place)
        self._out.write_marked(
            f"{_REF_OPENS}{name}|{'han' if is_han else ''}|{keys}{_REF_CLOSES}", place
        )

    def _resolve(self, match: re.Match[str]) -> str:
        """Return a reference as it is printed; `??` where its label is not found."""
        name, is_han, keys = match[1].split("|", 2)
        if name in {"pageref", "vpageref", "nameref"}:
            return "…"
        by_kind: dict[str, list[str]] = {}
        for key in keys.split(","):
            kind, number = self._labels.get(key.strip(), ("", ""))
            kind = kind if name.lower() in {"cref", "crefrange", "autoref"} else ""
            shown = f"({number or '??'})" if name == "eqref" else number or "??"
            by_kind.setdefault(kind, []).append(shown)
        called = (
            _called(kind, numbers, is_capital=name in {"Cref", "Crefrange"}, is_han=bool(is_han))
            for kind, numbers in by_kind.items()
        )
        return ("和" if is_han else " and ").join(called)

    def _item(self, token: Token) -> None:
        place = token.place
        self._out.end()
        self._out.mark = self._lists[-1] if self._lists else ""
        option = self.option()
        term = self._inline(option) if option else []
        if term and not _NUMBERING.fullmatch("".join(text for text, _ in term)):
            for text, where in term:
                self._out.write_marked(text, where)
            if not term[-1][0].endswith((":", ".", "：")):
                self._out.write_marked("：" if count_han(term[-1][0]) else ":", place)
            self._out.space()

    def _scripted(self, token: Token) -> None:
        runs = self._inline(self.argument())
        text = "".join(text for text, _ in runs)
        if _SCRIPT.fullmatch(text):
            raised = _RAISED if token.text == "textsuperscript" else _LOWERED
            runs = [(text.translate(raised), token.place)]
        for written, place in runs:  # \textsuperscript{\cite{lee}} among them
            self._out.write_marked(written, place)

    def _quantity(self, token: Token) -> None:
        """Write what siunitx typesets: a number, a unit, both, a range or a list."""
        name, place = token.text, token.place
        self.option()
        if name == "ang":
            self._out.write(write_angle(self._plain(self.argument())), place)
            return
        numbers: list[str] = []
        if name not in {"si", "unit"}:
            if not self._opens_brace():
                return  # \qty(…) of the package physics sizes brackets
            tokens = self.argument()
            if name == "qty" and not self._opens_brace():
                self.push(tokens)
                return
            numbers = [write_number(part) for part in self._plain(tokens).split(";")]
        if name in {"SIrange", "qtyrange", "numrange"}:
            numbers.append(write_number(self._plain(self.argument())))
        unit = ""
        if not name.startswith("num"):
            self.option()  # before the unit, of older versions: \SI{5}[\$]{}
            unit = write_unit(self.argument(), self.macros)
        gap = "" if not unit or unit in {"%", "°", "′", "″"} else " "
        shown = [f"{number}{gap if number else ''}{unit}" for number in numbers] or [unit]
        joint = " to " if "range" in name else " and "
        text = ", ".join(shown[:-1]) + joint * (len(shown) > 1) + shown[-1]
        self._out.write(text, place)

    def _term(self, token: Token) -> None:
        name, place = token.text, token.place
        self.takes_star()
        self.option()
        key = text_of(self.argument())
        short, long = self._acronyms.get(key, (key, key))
        kind = name.lower().removeprefix("acr").removeprefix("ac").removeprefix("gls")
        text = long if kind in {"l", "long", "lp"} else short
        is_first = kind in {"", "p", "pl"} and key not in self._used_terms
        self._used_terms.add(key)
        if is_first and key in self._first_uses:
            self.push(self._first_uses[key])
            return
        if kind in {"f", "full", "fp"} or (is_first and long != short):
            text = f"{long} ({short})"
        if kind in {"p", "pl", "lp", "sp", "fp"}:
            text += "s"
        self._out.write(text[:1].upper() + text[1:] if name[0].isupper() else text, place)

    def _define_acronym(self, token: Token) -> None:
        name = token.text
        if name == "acro":
            key = text_of(self.argument())
            option = self.option()
            long = self._plain(self.argument())
            self._acronyms[key] = (self._plain(option) if option else key, long)
        elif name in {"newacronym", "newabbreviation"}:
            self.option()
            key, short, long = (self._plain(self.argument()) for _ in range(3))
            self._acronyms[key] = (short, long)
        else:
            key, fields = text_of(self.argument()), _fields(self.argument())
            name = self._plain(fields.get("name", ()))
            short = self._plain(fields.get("short", ())) or name or key
            self._acronyms[key] = (short, self._plain(fields.get("long", ())) or short)
            if "first" in fields:
                self._first_uses[key] = fields["first"]
            if "description" in fields:
                self._glossary.append((key, fields["description"]))

    def _print_glossary(self, _token: Token) -> None:
        self.option()
        for key, description in self._glossary:
            self._out.end()
            self._out.mark = "- "
            place = description[0].place if description else Place("", 1)
            self._out.write(f"{self._acronyms[key][0]}:", place)
            self._out.space()
            self.apart(description, self.run)
        self._out.end()
        self._glossary = []

    # Files.

    def _input(self, token: Token) -> None:
        name, place = token.text, token.place
        folder = text_of(self.argument()) if name in {"import", "subimport"} else ""
        written = text_of(self.argument()) if self._opens_brace() else self._word_of_input()
        written = f"{folder.rstrip('/')}/{written}" if folder else written
        if name == "InputIfFileExists":
            self._skip_arguments("mm")
        path = self.files.find(written, ".tex", self.open_files[-1] if self.open_files else "")
        if path is None:
            # Packages look for files of the system and of their own.
            is_package = self.open_files[-1:] and self.open_files[-1].endswith(_PACKAGES)
            if not is_package and not written.endswith((".pgf", ".tikz")):
                self._warn(place, f"\\{name}{{{written}}} names no file that could be read; what "
                                  "it says was not checked.")  # fmt: skip
            return
        file = self.files.name_of(path)
        if file in self.open_files:
            self._warn(place, f"\\{name}{{{written}}} includes a file in itself; it was left out.")
            return
        if name == "include":
            self._out.end()
        self.push(tokenize(self.files.read(path), file), file)

    def _opens_brace(self) -> bool:
        token = self.peek()
        return token is not None and (token.kind, token.text) == ("char", "{")

    def _word_of_input(self) -> str:
        r"""Read `\input file` without braces."""
        token = self.peek()
        if token is None or token.kind != "text":
            return ""
        self.takes(token.text, "text")
        return token.text

    def _package(self, token: Token) -> None:
        """Read the packages that stand beside the draft: their macros may be text."""
        name, place = token.text, token.place
        options = self.option()
        written = text_of(self.argument())
        is_class = name.startswith(("documentclass", "LoadClass"))
        if name == "documentclass" and self.open_files[-1:] not in ([], [""]):
            # A chapter that can be typeset alone.
            while (following := self.next()) is not None:
                begins = (following.kind, following.text) == ("word", "begin")
                if begins and text_of(self.argument()) == "document":
                    return
            return
        if is_class and written == "subfiles" and options:
            self._read_preamble(text_of(options), place)
        for one in written.split(","):
            path = self.files.find(one, ".cls" if is_class else ".sty")
            if path is not None and self.files.name_of(path) not in self.open_files:
                file = self.files.name_of(path)
                self.push(tokenize(self.files.read(path), file), file)

    def _read_preamble(self, written: str, place: Place) -> None:
        path = self.files.find(written, ".tex")
        if path is None:
            self._warn(place, f"the main file {written} could not be read: its macros are unknown.")
            return
        tokens = tokenize(self.files.read(path), self.files.name_of(path))
        begins = [
            at for at, token in enumerate(tokens[:-2])
            if token.kind == "word" and token.text == "begin" and tokens[at + 2].text == "document"
        ]  # fmt: skip
        # Without its own \documentclass, which would be read as that of a chapter.
        classes = [at for at, token in enumerate(tokens) if token.text == "documentclass"]
        self.push(tokens[classes[0] + 2 if classes else 0 : begins[0] if begins else None])

    def _bibliography(self, token: Token) -> None:
        place = token.place
        self.takes_star()
        self.option()
        for one in text_of(self.argument()).split(","):
            self._bibliographies.setdefault(one.strip(), place)

    def _warn(self, place: Place, sentence: str) -> None:
        self.files.warnings.append(f"{self.files.where(place)}: {sentence}")

    # Environments.

    def _begin(self, token: Token) -> None:
        place = token.place
        env = text_of(self.argument())
        bare = env.rstrip("*")
        if env == "document":
            self._out, self._notes, self._note_count = _Output(), [], 0
        elif env in self.environments:
            macro, end = self.environments[env]
            self._ends.append((env, [token._replace(place=place) for token in end]))
            self.call(macro, place)
        elif bare in _DRAWINGS:
            self.apart(self.environment(env) or [], self._only_labels)
        else:
            whole = ((_FORMULAS, self._display), (_TABLES, self._table), (_FLOATS, self._float))
            for names, read in whole:
                if bare in names and not (self._is_math and bare == "array"):
                    read(env, place)
                    return
            self._open(env, place)

    def _only_labels(self) -> None:
        while (token := self.next()) is not None:
            if (token.kind, token.text) == ("word", "label"):
                self._label(token._replace(text="lstlabel"))

    def _open(self, env: str, place: Place) -> None:
        """Begin an environment whose text is read like any other."""
        bare = env.rstrip("*")
        if self._is_math:
            self._skip_arguments("om" if bare == "array" else "o")
            return
        self._out.end()
        self._skip_arguments(_ARGUMENTS.get(env, "o"))
        if env == "thebibliography":
            self._entries += self._items(self.environment(env) or [])
        elif bare in _LISTS:
            self._lists.append(_LISTS[bare])
        elif bare in _QUOTES:
            self._out.prefix += "> "
        elif env == "abstract":
            self._heading(2, [("Abstract", place)])
        elif bare in self._theorems:
            self._theorems[bare] += 1
            self._here = (bare, str(self._theorems[bare]))
            if bare in self._boxed:
                for text, where in self._inline(self.argument()):
                    self._out.write_marked(text, where)
                self._out.end()
                self._labels[f"{self._boxed[bare]}:{text_of(self.argument())}"] = self._here

    def _skip_arguments(self, kinds: str) -> None:
        for kind in kinds:
            if kind == "o":
                self.option()
            else:
                self.argument()

    def _end(self, _token: Token) -> None:
        env = text_of(self.argument())
        bare = env.rstrip("*")
        if env == "document":
            if self.open_files[-1:] in ([], [""]):
                self._stack.clear()
            else:
                self.end_file()
            return
        if self._ends and self._ends[-1][0] == env:
            self.push(self._ends.pop()[1])
            return
        if self._is_math:
            return
        self._out.end()
        if bare in _LISTS and self._lists:
            self._lists.pop()
            self._out.mark = ""
        elif bare in _QUOTES:
            self._out.prefix = self._out.prefix.removesuffix("> ")

    def _display(self, env: str, place: Place) -> None:
        tokens = self.environment(env)
        if tokens is None:
            self._out.space()
            return
        if env.startswith("alignat"):
            tokens = tokens[3:]
        is_numbered = not env.endswith("*") and env not in {"math", "displaymath"}
        if is_numbered:
            self._step("equation")
        labels = [at for at, token in enumerate(tokens) if token.text == "label"]
        rows = [at for at, token in enumerate(tokens) if token.text == "\\"]
        if is_numbered and len(labels) > 1 and env in {"align", "gather", "eqnarray", "flalign"}:
            # Each row has a number; its label is read before the next one begins.
            first = 0
            for last in [*rows, len(tokens)]:
                if first:
                    self._step("equation")
                self._formula(tokens[first:last], place, is_display=True)
                first = last + 1
            return
        self._formula(tokens, place, is_display=True)

    def _float(self, env: str, _place: Place) -> None:
        self._skip_arguments(_ARGUMENTS.get(env.rstrip("*"), "o"))
        tokens = self.environment(env)
        if tokens is None:
            return
        self._floats.append(_FLOATS[env.rstrip("*")])
        output = self._inside(tokens, _Output(), is_math=False)
        self._floats.pop()
        output.end()
        if self._floats:
            self._out.add(output.blocks)
        else:
            self._out.waiting += output.blocks
            if not self._out.last:
                self._out.end()

    def _table(self, env: str, place: Place) -> None:
        self.option()
        for _ in range(_TABLES[env.rstrip("*")] + env.endswith("*")):
            self.argument()
        tokens = self.environment(env)
        if tokens is None:
            return
        self._out.end()
        rows, head_rows = self._rows(self._without_captions(tokens))
        if not rows:
            return
        width = max(len(row) for row in rows)
        head = _merge_heads([row + [[]] * (width - len(row)) for row in rows[:head_rows]])
        head = head or [[]] * width
        body = rows[head_rows:]
        self._out.blocks += [
            replace(_row(head, place), kind="head"),
            _Block("", [("|---" * width + "|", place)], "row"),
            *(_row(row + [[]] * (width - len(row)), place) for row in body),
        ]

    def _without_captions(self, tokens: Sequence[Token]) -> list[Token]:
        """Write the captions inside a table before it, and return the rest."""
        rest: list[Token] = []

        def read() -> None:
            while (token := self.next()) is not None:
                if (token.kind, token.text) == ("word", "caption"):
                    self._caption(token)
                else:
                    rest.append(token)

        self._floats.append("table")
        self.apart(tokens, read)
        self._floats.pop()
        return rest

    def _rows(self, tokens: Sequence[Token]) -> tuple[list[list[list[_Run]]], int]:
        """Return the rows of a table, each cell as runs, and how many of them are its head."""
        rows: list[list[list[_Run]]] = []
        row: list[list[_Run]] = []
        cell: list[Token] = []
        head_rows = 0

        def end_cell() -> None:
            runs, width = self._cell(cell)
            row.extend([runs, *([] for _ in range(width - 1))])
            cell.clear()

        def end_row() -> None:
            end_cell()
            if any(row):
                rows.append(list(row))
            row.clear()

        for name, token in _with_ends(tokens):
            if name == "&":
                end_cell()
            elif name == "\\":
                end_row()
            elif name == "rule":
                # The first one below a row parts the head from the rest.
                end_row()
                head_rows = head_rows or (len(rows) if len(rows) <= _MOST_HEADS else 0)
            elif name == "endfirsthead":
                head_rows = len(rows)
            elif name in {"endhead", "endfoot"}:  # what is printed on other pages
                end_row()
                head_rows = head_rows or len(rows)
                del rows[head_rows:]
            else:
                cell.append(token)
        end_row()
        # Without a rule below it no row is known to be a head.
        return rows, head_rows if head_rows < len(rows) else 0

    def _cell(self, tokens: Sequence[Token]) -> tuple[list[_Run], int]:
        """Return what a cell says and over how many columns it runs."""
        width = 1
        held: list[_Run] = []

        def read() -> None:
            nonlocal width
            if self.takes("multicolumn", "word"):
                count = text_of(self.argument())
                width = int(count) if count.isdigit() and int(count) < 100 else 1
                self.argument()
                self.push(self.argument())
            self.run()

        kept, self._out = self._out, _Output()
        floats, self._floats = self._floats, self._floats or ["table"]
        self._depth += 1
        if self._depth < 40:
            self.apart(tokens, read)
        self._depth -= 1
        self._out.end()
        held = [(text.replace("|", "\\|"), place) for text, place in self._out.runs()]
        self._out, self._floats = kept, floats
        return held, width

    def _items(self, tokens: list[Token]) -> Iterator[Entry]:
        starts = [at for at, t in enumerate(tokens) if (t.kind, t.text) == ("word", "bibitem")]
        for start, following in zip(starts, [*starts[1:], len(tokens)], strict=True):
            found: list[str] = []

            def read(found: list[str] = found) -> None:
                self.option()
                found.append(text_of(self.argument()))
                rest = []
                while (token := self.next()) is not None:
                    rest.append(token if token.kind != "par" else token._replace(kind="space"))
                found.append(self._plain(rest))

            self.apart(tokens[start + 1 : following], read)
            text, place = " ".join(found[1].split()), tokens[start].place
            yield replace(parse_entry(text, found[0]), line=place.line, file=place.file)

    # Commands that need no more than a few lines.

    def _opened_formula(self, token: Token) -> None:
        closes = ")" if token.text == "(" else "]"
        formula = self.up_to(lambda one: one.kind == "word" and one.text == closes)
        if formula is not None:
            self._formula(formula, token.place, is_display=token.text == "[")

    def _root(self, token: Token) -> None:
        self.option()
        text = self._plain(self.argument(), is_math=True)
        self._out.write(f"√{text}" if len(text) < 2 else f"√({text})", token.place)

    def _line_break(self, _token: Token) -> None:
        self.takes_star()
        self.option()
        self._out.space()

    def _begin_appendix(self, _token: Token) -> None:
        self._is_appendix = True
        self._counts.update(dict.fromkeys(_COUNTED, 0))

    def _title_page(self, token: Token) -> None:
        if token.text == "title":
            self.option()
            self._title = self.argument()
        else:
            self._heading(1, self._inline(self._title))

    def _space_if_needed(self, _token: Token) -> None:
        following = self.next()
        if following is not None:
            self.push([following])
            if following.kind == "word" or following.text[:1].isalnum():
                self._out.space()

    def _define_theorem(self, token: Token) -> None:
        self.takes_star()
        if token.text == "newtcbtheorem":
            self.option()
        name = text_of(self.argument())
        self._theorems[name] = 0
        if token.text == "newtcbtheorem":
            self._skip_arguments("mm")
            self._boxed[name] = text_of(self.argument())
        else:
            self._skip_arguments("omo")

    def _substance(self, token: Token) -> None:
        text = text_of(self.argument()).replace("->", "→")
        self._out.write(re.sub(r"[_^{}$]", "", text), token.place)

    @staticmethod
    @cache
    def _handlers() -> "dict[str, Callable[[_LatexReader, Token], None]]":
        reader = _LatexReader
        table = {
            reader._section: " ".join(_LEVELS),
            reader._footnote: "footnote",
            reader._caption: "caption subcaption",
            reader._label: "label lstlabel",
            reader._ref: "ref cref Cref autoref eqref pageref vref nameref crefrange Crefrange "
                         "vpageref labelcref subref",
            reader._item: "item",
            reader._scripted: "textsuperscript textsubscript",
            reader._quantity: "SI si num numrange numlist ang qty unit SIrange SIlist qtyrange "
                              "qtylist",
            reader._print_glossary: "printglossary printglossaries printnoidxglossary",
            reader._term: "gls Gls glspl Glspl ac Ac acp acs acl acf acrshort acrlong acrfull "
                              "glsfull",
            reader._define_acronym: "newacronym newabbreviation acro DeclareAcronym "
                                    "newglossaryentry",
            reader._input: "input include subfile import subimport InputIfFileExists",
            reader._package: "usepackage RequirePackage documentclass LoadClass",
            reader._bibliography: "bibliography addbibresource addglobalbib",
            reader._begin: "begin",
            reader._end: "end",
            reader._opened_formula: "( [",
            reader._fraction: "frac tfrac dfrac cfrac",
            reader._root: "sqrt",
            reader._line_break: "\\",
            reader._begin_appendix: "appendix",
            reader._title_page: "title maketitle",
            reader._space_if_needed: "xspace",
            reader._define_theorem: "newtheorem newtcbtheorem",
            reader._substance: "ce",
            (lambda own, _: own._out.end()): "par",
            (lambda own, _: own.end_file()): "endinput",
        }  # fmt: skip
        return {name: handler for handler, names in table.items() for name in names.split()}

    # The end.

    def finish(self) -> DraftSource:
        """Return all that was read."""
        self._out.end()
        self._flush_notes()
        for key, place in self._refs.items():
            if key not in self._labels:
                self._warn(place, f"\\ref{{{key}}} points at no \\label.")
        entries = [*self._entries, *self._bibliography_entries()]
        text, lines = self._written()
        return DraftSource(
            text,
            hash_bytes(b"\0".join(self.files.contents.values())),
            entries=tuple(entries),
            lines=tuple(lines),
            warnings=tuple(dict.fromkeys(self.files.warnings)),
        )

    def _bibliography_entries(self) -> Iterator[Entry]:
        is_found = bool(self._entries)
        for name, place in self._bibliographies.items():
            path = self.files.find(name, ".bib")
            if path is None:
                if self._printed_list() is None:
                    self._warn(place, f"the bibliography {name} was not found in the draft's "
                                      "folder.")  # fmt: skip
                continue
            is_found = True
            yield from read_bibtex(self.files.read(path), self.files.name_of(path))
        printed = None if is_found else self._printed_list()
        if printed is not None:
            file, text = self.files.name_of(printed), self.files.read(printed)
            yield from _biber_entries(text, file)
            yield from self._items(tokenize(text, file))

    def _printed_list(self) -> Path | None:
        return self.files.find(self.files.main.stem, ".bbl")

    def _written(self) -> tuple[str, list[tuple[int, str, int]]]:
        parts: list[str] = []
        lines: list[tuple[int, str, int]] = []
        offset = 0

        def add(text: str, place: Place | None = None) -> None:
            nonlocal offset
            if place is not None and text and (not lines or lines[-1][1:] != place):
                lines.append((offset, *place))
            parts.append(text)
            offset += len(text)

        for block in self._out.blocks:
            runs = [(_REF.sub(self._resolve, text), place) for text, place in block.runs]
            if not runs:
                continue
            if parts:
                add("\n" if block.kind == "row" else "\n\n")
            add(block.prefix, runs[0][1])
            if block.kind == "words" and not block.prefix.startswith("#"):
                whole = "".join(text for text, _ in runs[:3])
                start = _LINE_START.match(whole)
                if start is not None and start.start(1) < len(runs[0][0]):
                    at, (first, place) = start.start(1), runs[0]
                    runs[0] = (f"{first[:at]}\\{first[at:]}", place)
            for text, place in runs:
                add(text, place)
        add("\n")
        return "".join(parts), lines


# What is no macro of its own even where a draft defines it.
_STRUCTURE = frozenset(
    [*_LEVELS, "begin", "end", "input", "include", "item", "footnote", "caption", "label", "ref"]
)


def _called(kind: str, numbers: Sequence[str], *, is_capital: bool, is_han: bool) -> str:
    """Return references to things of one kind as LaTeX prints them: `figures 1 and 2`, 图1."""
    english, chinese = _NAMES.get(kind, ("", ""))
    if is_han and chinese:
        numbered = "、".join(numbers)
        return f"第{numbered}{chinese}" if chinese in {"节", "章"} else f"{chinese}{numbered}"
    name = english + "s" * bool(len(numbers) > 1 and english)
    shown = ", ".join(numbers[:-1]) + " and " * (len(numbers) > 1) + numbers[-1]
    return f"{name.capitalize() if is_capital else name} {shown}".strip()


def _flat(text: str, without: str) -> str:
    """Return text on one line without the brackets that would end what it stands in."""
    return " ".join(text.translate(dict.fromkeys(map(ord, without))).split())


def _fields(tokens: Sequence[Token]) -> dict[str, list[Token]]:
    """Return the values of `name={a, b},plural=c` by their names."""
    fields: dict[str, list[Token]] = {}
    name, value, depth = "", None, 0
    for token in tokens:
        if token.kind == "char" and token.text in {"{", "}"}:
            depth += 1 if token.text == "{" else -1
        is_plain = token.kind == "text" and depth == 0
        for piece in re.split("([=,])", token.text) if is_plain else [token.text]:
            if is_plain and piece == ",":
                name, value = "", None
            elif is_plain and piece == "=" and value is None:
                value = fields.setdefault(name.strip(), [])
            elif value is not None:
                value.append(token._replace(text=piece))
            else:
                name += piece
    return fields


def _row(cells: Sequence[list[_Run]], place: Place) -> _Block:
    runs: list[_Run] = []
    for cell in cells:
        where = cell[0][1] if cell else (runs[-1][1] if runs else place)
        runs += [("| ", where), *cell, (" ", where)]
    return _Block("", [*runs, ("|", runs[-1][1] if runs else place)], "row")


def _merge_heads(heads: Sequence[list[list[_Run]]]) -> list[list[_Run]]:
    """Return the rows of a head as one: what runs over several columns stands in each of them."""
    merged = list(heads[-1]) if heads else []
    for row in heads[-2::-1]:
        above: list[_Run] = []
        for column, cell in enumerate(row):
            above = cell or above
            if above:
                gap: list[_Run] = [(" ", above[0][1])] if merged[column] else []
                merged[column] = [*above, *gap, *merged[column]]
    return merged


def _with_ends(tokens: Sequence[Token]) -> Iterator[tuple[str, Token]]:
    r"""Yield the tokens of a table, each with what it ends: `&`, `\\`, a rule, or nothing."""
    at = depth = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.kind == "char" and token.text in {"{", "}"}:
            depth += 1 if token.text == "{" else -1
        elif token.kind == "word" and token.text in {"begin", "end"}:
            depth += 1 if token.text == "begin" else -1
        name = _ENDS.get(token.text, "") if depth <= 0 and token.kind in {"word", "char"} else ""
        yield name, token
        if name in {"\\", "rule"}:
            at += _length_of_option(tokens[at:])


def _length_of_option(tokens: Sequence[Token]) -> int:
    """Return how many tokens `[2pt]`, `*` or `(lr){2-3}` behind a row or rule takes."""
    at = 0
    while at < len(tokens) and (tokens[at].kind == "space" or tokens[at].text == "*"):
        at += 1
    if at < len(tokens) and (tokens[at].kind, tokens[at].text) == ("char", "["):
        closes = next((n for n, t in enumerate(tokens[at:]) if t.text == "]"), None)
        return at + closes + 1 if closes is not None else 0
    return 0


@cache
def _symbol(name: str) -> str:
    """Return the character that a command stands for, empty where it stands for none."""
    found = _symbols().get_macro_spec(name)
    shown = getattr(found, "simplify_repl", None)
    if not isinstance(shown, str) or "%" in shown or len(shown) > 8:
        return ""
    return shown.strip()


@cache
def _symbols():  # type: ignore[no-untyped-def]
    from pylatexenc.latex2text import get_default_latex_context_db

    return get_default_latex_context_db()


# The list of references that biber writes for biblatex: https://ctan.org/pkg/biber.

_BIBER_ENTRY = re.compile(r"\\entry\{(?P<key>[^{}]*)\}\{[^{}]*\}(?P<body>.*?)\\endentry", re.DOTALL)
_BIBER_FIELD = re.compile(
    r"\\(?:field|strng)\{(?P<name>\w+)\}\{(?P<value>(?:[^{}]|\{[^{}]*\})*)\}"
    r"|\\verb\{(?P<verb>\w+)\}\s*\\verb (?P<text>[^\n]*)"
)
_BIBER_NAMES = re.compile(r"\\name\{(?:author|editor)\}(?P<names>.*?)\n\s*\}\s*\n", re.DOTALL)
_BIBER_FAMILY = re.compile(r"family=\{((?:[^{}]|\{[^{}]*\})*)\}")


def _biber_entries(text: str, file: str) -> Iterator[Entry]:
    """Yield the entries of a `.bbl` file by biber; none of one by BibTeX."""
    for match in _BIBER_ENTRY.finditer(text):
        fields = {
            one["name"] or one["verb"]: one["value"] or one["text"] or ""
            for one in _BIBER_FIELD.finditer(match["body"])
        }
        names = _BIBER_NAMES.search(match["body"])
        people = _BIBER_FAMILY.findall(names["names"]) if names else []
        fields["author"] = " and ".join(f"{{{family}}}" for family in people)
        line = text.count("\n", 0, match.start()) + 1
        yield bibtex_entry(match["key"], fields, line=line, file=file)
