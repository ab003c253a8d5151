"""A draft in LaTeX as Markdown, which the reader of drafts reads; every line keeps its place."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from rag_assets.auditing.latex_output import (
    EAST_ASIAN,
    Block,
    Output,
    Run,
    Table,
    flat,
    merge_heads,
    name_references,
    table_row,
)
from rag_assets.auditing.latex_source import (
    DraftFiles,
    Place,
    Token,
    TokenReader,
    latex_files,
    names,
    pairs,
    text_of,
    tokenize,
)
from rag_assets.auditing.latex_units import RAISED, write_angle, write_number, write_unit
from rag_assets.auditing.references import (
    DraftSource,
    Entry,
    parse_entry,
    read_biber,
    read_bibtex,
)
from rag_assets.model import count_han, hash_bytes

_LINE_START = re.compile(r"\s*\d*([#>+\-=|]|(?<=\d)[.)](?=\s)|~~~)")
_LIGATURES = (
    ("---", "—"), ("--", "–"), ("\"`", "„"), ("\"'", "“"), (",,", "„"), ("``", "“"), ("''", "”"),
    ("?`", "¿"), ("!`", "¡"), ("`", "‘"),
)  # fmt: skip
# Around the label of a reference until all labels are known.
_REF_OPENS, _REF_CLOSES = "\ue010", "\ue011"
_REF = re.compile(f"{_REF_OPENS}([^{_REF_CLOSES}]*){_REF_CLOSES}")

# Commands and environments.

_LEVELS = {
    "part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5,
    "subparagraph": 6,
}  # fmt: skip
_COUNTED = ("chapter", "section", "subsection", "subsubsection")
_CITE = re.compile(r"(?!nocite)[A-Za-z]*[cC]ite[A-Za-z]*")
_LONGEST_NOTE = 200
_LONGEST_TERM = 5_000
_MOST_INPUTS = 2_000
_FLOATS = {
    **dict.fromkeys(names("figure wrapfigure sidewaysfigure SCfigure marginfigure"), "figure"),
    **dict.fromkeys(names("table wraptable sidewaystable margintable"), "table"),
    **dict.fromkeys(names("subfigure subtable"), ""),
}
_TABLES = pairs(
    "tabular 1 tabularx 2 tabulary 2 tabularray 1 tblr 1 longtblr 1 longtable 1 supertabular 1 "
    "xltabular 2 array 1"
)
_ROWS = names("align gather eqnarray flalign alignat")
_FORMULAS = _ROWS | names("equation multline math displaymath dmath")
_QUOTES = names("quote quotation displayquote verse displaycquote")
_LISTS = {"itemize": "- ", "enumerate": "1. ", "description": "- ", "compactitem": "- ",
          "compactenum": "1. ", "list": "- "}  # fmt: skip
_DRAWINGS = names(
    "tikzpicture picture pspicture pgfpicture forest axis algorithmic algorithm2e circuitikz "
    "tikzcd CCSXML"
)
# Arguments that environments take before their text.
_ARGUMENTS = pairs(
    "list mm wrapfigure omom wraptable omom subfigure om subtable om displaycquote oom alignat m"
)
_MOST_HEADS = 3
_MOST_COLUMNS = 100
# Deeper than a person nests: a file made to exhaust the stack is read no further.
_DEEPEST = 40
_ACCENTS = pairs(
    "' \u0301 ` \u0300 ^ \u0302 \" \u0308 ~ \u0303 = \u0304 . \u0307 u \u0306 v \u030c H \u030b "
    "c \u0327 d \u0323 b \u0331 r \u030a k \u0328 hat \u0302 bar \u0304 tilde \u0303 dot \u0307 "
    "ddot \u0308 vec \u20d7"
)
_LOWERED = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
_SCRIPT = re.compile(r"[+\-−]?\d{1,6}[+\-−]?|[+\-−]")
_RELATION = re.compile(r"\s*(=|<|>|≤|≥|≈|≠|≡|∼|≪|≫|∈|±|×|→|~)\s*")
_PACKAGES = (".sty", ".cls", ".cfg")
_NUMBERING = re.compile(r"\W*(?:\d+|[A-Za-z]|[ivxIVX]{1,5})?\W*")
_FIELD = re.compile(r"(\w+)\s*=\s*(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|([^,{}]*))")


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
    files.contents[""] = path.read_bytes() if data is None else data
    named = (
        {files.name_of(file.resolve()) for file in latex_files(path, root)}
        if data is None
        else {""}
    )
    text = files.decode("", files.contents[""])
    reader = _LatexReader(files)
    reader.push_file(text, "")
    reader.run()
    unseen = sorted(files.contents.keys() - named - {""})
    if unseen:
        files.warnings.append(
            f"{path.name}: {', '.join(unseen)} {'is' if len(unseen) == 1 else 'are'} named by a "
            "macro. Verdicts on it are not marked as out of date when it changes."
        )
    return reader.finish()


class _LatexReader(TokenReader):
    """Writes Markdown from the tokens of a draft."""

    def __init__(self, files: DraftFiles) -> None:
        super().__init__(files)
        self._out = Output()
        self._is_math = False
        self._depth = 0  # of texts that are read apart from the others
        self._level = 0  # of braces and environments in the text that is read
        self._table: Table | None = None
        self._quotes = 0  # single ones that are open
        self._raised: list[Run] = []  # citations inside the formula that is read
        self._notes: list[Block] = []
        self._note_count = 0
        self._lists: list[str] = []
        self._ends: list[tuple[str, tuple[Token, ...]]] = []
        self._floats: list[str] = []
        self._counts = dict.fromkeys((*_COUNTED, "figure", "table", "equation"), 0)
        self._is_appendix = False
        self._here = ("", "")  # what a label names: its kind and number
        self._labels: dict[str, tuple[str, str]] = {}
        self._refs: dict[str, Place] = {}
        # Short and long form, and the text of the first use where it is another.
        self._acronyms: dict[str, tuple[str, str, str]] = {}
        self._used_terms: set[str] = set()
        self._glossary: list[str] = []  # items of terms with their descriptions
        self._opened = 0
        self._bibliographies: dict[str, Place] = {}
        self._entries: list[Entry] = []

    # Tokens.

    def run(self) -> None:
        """Read all tokens."""
        while (token := self.next()) is not None:
            if token.kind == "word":
                self._command(token)
            elif token.kind == "space":
                self._out.space("\n" if "\n" in token.text else " ")
            elif token.kind == "par":
                self._out.add()
            elif token.kind == "code":
                code = "~" * (3 + token.text.count("~~~"))
                block = Block("", [(f"{code}\n{token.text}\n{code}", token.place)], "code")
                self._out.add([block])
            elif token.kind == "verb":
                ticks = "``" if "`" in token.text else "`"
                self._out.write_marked(f"{ticks}{token.text}{ticks}", token.place)
            elif token.kind == "char":
                self._character(token)
            elif self._is_math:
                self._out.write(token.text.replace("'", "′"), token.place)
            else:
                text = token.text
                for typed, printed in _LIGATURES:
                    text = text.replace(typed, printed)
                self._quotes += text.count("‘")
                if self._quotes:
                    text, closed = re.subn(r"'(?!\w)", "’", text, count=self._quotes)
                    self._quotes -= closed
                self._out.write(text, token.place)

    def _character(self, token: Token) -> None:
        if token.text in {"$", "$$"}:
            formula = self.up_to(token.text, may_break=token.text == "$$")
            if formula is None:
                self._out.write("$", token.place)
            else:
                self._formula(formula, token.place, is_display=token.text == "$$")
        elif token.text in {"^", "_"} and self._is_math:
            text = self._plain(self.argument(), is_math=True).replace(" ", "")
            if text in {"°", "′", "°C"}:
                self._out.write(text, token.place)
            elif _SCRIPT.fullmatch(text):
                raised = text.translate(RAISED if token.text == "^" else _LOWERED)
                self._out.write(raised, token.place)
            elif re.search(r"[\w*†‡′+−-]", text):
                is_short = len(text) == 1 or (token.text == "_" and text.isalnum())
                shown = text if is_short else f"({text})"
                self._out.write(f"{token.text}{shown}", token.place)
        elif token.text == "&" and (table := self._open_table()) is not None:
            self._end_cell(table)
        elif token.text in {"~", "&"}:
            self._out.space()
        elif token.text in {"{", "}"}:
            self._level += 1 if token.text == "{" else -1
        else:
            self._out.write(token.text, token.place)

    def _inside(
        self,
        tokens: Sequence[Token],
        output: Output,
        *,
        is_math: bool = False,
        table: Table | None = None,
    ) -> Output:
        """Read tokens apart from the others."""
        kept = self._out, self._is_math, self._table, self._level
        self._out, self._is_math, self._table, self._level = output, is_math, table, 0
        self._depth += 1
        if self._depth < _DEEPEST:
            self.apart(tokens, self.run)
        self._depth -= 1
        self._out, self._is_math, self._table, self._level = kept
        return output

    def _inline(self, tokens: Sequence[Token]) -> list[Run]:
        return self._inside(tokens, Output(), is_math=self._is_math).runs()

    def _plain(self, tokens: Sequence[Token], *, is_math: bool = False) -> str:
        output = self._inside(tokens, Output(is_plain=True), is_math=is_math)
        return "".join(text for text, _ in output.runs())

    # Formulas.

    def _formula(
        self,
        tokens: Sequence[Token],
        place: Place,
        *,
        is_display: bool = False,
        table: Table | None = None,
    ) -> None:
        output = self._inside(tokens, Output(is_plain=True), is_math=True, table=table)
        text = _RELATION.sub(r" \1 ", "".join(text for text, _ in output.runs())).strip()
        if is_display:
            self._out.space()
        self._out.write(text, place, in_math=True)
        if not self._is_math:  # growth$^{\cite{lee}}$
            self._out.write_runs(self._raised)
            self._raised = []
        if is_display:
            self._out.space()

    def _fraction(self, token: Token) -> None:
        parts = [self._plain(self.argument(), is_math=True).strip() for _ in range(2)]
        shown = (f"({part})" if re.search(r"[\s+\-−·/]", part) else part for part in parts)
        self._out.write("/".join(shown), token.place)

    # Commands.

    def _command(self, token: Token) -> None:
        name, place = token.text, token.place
        meant = token._replace(text=self.aliases.get(name, name))
        handler = _handlers().get(meant.text)
        is_own = name in self.macros and name not in _STRUCTURE
        if handler is not None and not is_own:
            handler(self, meant)
        elif is_own:
            self.call(self.macros[name], place)
        elif self.define(name) or self.branch(name):
            return
        elif _CITE.fullmatch(name):
            self._cite(name, place)
        elif name == "," or name.isspace():
            self._out.space("\u2009" if name == "," else " ")
        elif name in _ACCENTS:
            base = self._plain(self.argument(), is_math=self._is_math)
            base = base.replace("ı", "i").replace("ȷ", "j")
            accented = unicodedata.normalize("NFC", base[:1] + _ACCENTS[name])
            self._out.write(accented + base[1:], place)
        elif name in "%$&#{}_":
            self._out.write(name, place)
        elif (symbol := _symbol(name)) is not None:
            self._out.write(symbol, place)
        # The braces of an unknown command hold text; its options do not.
        elif (option := self.option()) is not None and not self.next_is("{"):
            self._put_back(option, place)

    def _put_back(self, option: Sequence[Token], place: Place) -> None:
        self.push([Token("text", "[", place), *option, Token("text", "]", place)])

    def _cite(self, name: str, place: Place) -> None:
        """Write a citation as it stands, with the marks of LaTeX gone from its notes."""
        written = f"\\{name}{'*' * self.takes('*')}"
        if "volcite" in name.lower():
            written += self._note(self.option())
            self.argument()  # number of the volume
        is_many = name.endswith("s")
        for _ in range(2 * is_many):
            if (note := self.option("(", ")")) is not None:
                written += f"({flat(self._plain(note), '()')})"
        found = 0
        while is_many or not found:
            notes = [note for _ in range(2) if (note := self.option()) is not None]
            if not self.next_is("{"):
                for note in reversed(notes):
                    self._put_back(note, place)
                break
            keys = [key.strip() for key in text_of(self.argument()).split(",")]
            shown = flat(", ".join(filter(None, keys)), "{}")
            written += "".join(map(self._note, notes)) + f"{{{shown}}}"
            found += 1
        if found and self._is_math:
            self._raised.append((written, place))
        elif found:
            self._out.write_marked(written, place)

    def _note(self, tokens: Sequence[Token] | None) -> str:
        if tokens is None:
            return ""
        return f"[{flat(self._plain(tokens), '[]{}')[:_LONGEST_NOTE]}]"

    def _section(self, token: Token) -> None:
        name = token.text
        is_counted = not self.takes("*") and name in _COUNTED
        self.option()
        if is_counted:
            self._counts[name] += 1
            self._counts.update(dict.fromkeys(_COUNTED[_COUNTED.index(name) + 1 :], 0))
            if name == "chapter":
                self._counts.update(figure=0, table=0, equation=0)
            first = 0 if self._counts["chapter"] else 1
            shown = [str(self._counts[one]) for one in _COUNTED[first:] if self._counts[one]]
            if self._is_appendix:
                shown[0] = chr(ord("A") + (self._counts[_COUNTED[first]] - 1) % 26)
            kind = "appendix" if self._is_appendix else name.replace("sub", "")
            self._here = (kind, ".".join(shown))
        title = self._inline(self.argument())
        self._out.add()
        self._flush_notes()
        if title:
            self._out.add([Block(f"{'#' * _LEVELS[name]} ", title)])

    def _flush_notes(self) -> None:
        if self._depth == 0:
            self._out.add(self._notes)
            self._notes = []

    def _footnote(self, token: Token) -> None:
        self.option()
        self._note_count += 1
        label = f"[^{self._note_count}]"
        runs = self._inline(self.argument())
        if runs:
            self._out.write_marked(label, token.place)
            self._notes.append(Block(f"{label}: ", runs))

    def _caption(self, _token: Token) -> None:
        is_star = self.takes("*")
        self.option()
        if self._floats and self._floats[-1] and not is_star:
            self._step(self._floats[-1])
        runs = self._inline(self.argument())
        output = self._table.outer if self._table is not None else self._out
        if runs:
            output.add([Block(output.prefix, runs)])

    def _step(self, kind: str) -> None:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        number, chapter = str(self._counts[kind]), self._counts["chapter"]
        if chapter and kind in {"figure", "table", "equation"}:
            number = f"{chr(64 + chapter) if self._is_appendix else chapter}.{number}"
        self._here = (kind, number)

    def _label(self, token: Token) -> None:
        key = text_of(self.argument())
        self._labels[key] = self._here if token.text == "label" else ("", "…")

    def _ref(self, token: Token) -> None:
        name = token.text
        self.takes("*")
        self.option()
        keys = text_of(self.argument())
        for key in filter(str.strip, keys.split(",")):
            self._refs.setdefault(key.strip(), token.place)
        is_han = "han" if EAST_ASIAN.match(self._out.last) else ""
        self._out.write_marked(f"{_REF_OPENS}{name}|{is_han}|{keys}{_REF_CLOSES}", token.place)

    def _resolve(self, match: re.Match[str]) -> str:
        """Return a reference as it is printed; `??` where its label is not found."""
        name, is_han, keys = match[1].split("|", 2)
        by_kind: dict[str, list[str]] = {}
        for key in keys.split(","):
            kind, number = self._labels.get(key.strip(), ("", "??"))
            kind = kind if name.lower() in {"cref", "autoref"} else ""
            shown = f"({number or '??'})" if name == "eqref" else number or "??"
            by_kind.setdefault(kind, []).append(shown)
        called = (
            name_references(kind, numbers, is_capital=name[0] == "C", is_han=bool(is_han))
            for kind, numbers in by_kind.items()
        )
        return ("和" if is_han else " and ").join(called)

    def _item(self, token: Token) -> None:
        self._out.add()
        self._out.mark = self._lists[-1] if self._lists else ""
        term = self._inline(self.option() or [])
        if term and not _NUMBERING.fullmatch("".join(text for text, _ in term)):
            self._out.write_runs(term)
            if not term[-1][0].endswith((":", ".", "：")):
                self._out.write_marked("：" if count_han(term[-1][0]) else ":", token.place)
            self._out.space()

    def _scripted(self, token: Token) -> None:
        runs = self._inline(self.argument())
        text = "".join(text for text, _ in runs)
        if _SCRIPT.fullmatch(text):
            raised = RAISED if token.text == "textsuperscript" else _LOWERED
            runs = [(text.translate(raised), token.place)]
        self._out.write_runs(runs)  # \textsuperscript{\cite{lee}} among them

    def _quantity(self, token: Token) -> None:
        """Write what siunitx typesets: a number, a unit, both, a range or a list."""
        name = token.text
        self.option()
        if name == "qty" and not self.next_is("{"):
            return  # \qty(…) of the package physics sizes brackets
        numbers: list[str] = []
        if name not in {"si", "unit"}:
            write = write_angle if name == "ang" else write_number
            typed = self._plain(self.argument())
            numbers = [write(part) for part in (typed.split(";") if name != "ang" else [typed])]
        if name.endswith("range"):
            numbers.append(write_number(self._plain(self.argument())))
        unit = ""
        if not name.startswith(("num", "ang")):
            self.option()  # before the unit, of older versions: \SI{5}[\$]{}
            unit = write_unit(self.argument(), self.macros)
        gap = "" if unit in {"", "%", "°", "′", "″"} else " "
        shown = [f"{number}{gap if number else ''}{unit}" for number in numbers] or [unit]
        joint = " to " if "range" in name else " and "
        text = ", ".join(shown[:-1]) + joint * (len(shown) > 1) + shown[-1]
        self._out.write(text, token.place)

    def _term(self, token: Token) -> None:
        name = token.text
        self.takes("*")
        self.option()
        key = text_of(self.argument())
        short, long, first = self._acronyms.get(key, (key, key, ""))
        kind = name.lower().removeprefix("acr").removeprefix("ac").removeprefix("gls")
        text = long if kind in {"l", "long", "lp"} else short
        is_first = kind in {"", "p", "pl"} and key not in self._used_terms
        self._used_terms.add(key)
        if kind in {"f", "full", "fp"} or (is_first and long != short):
            text = f"{long} ({short})"
        if is_first and first:
            text = first
        elif kind in {"p", "pl", "lp", "sp", "fp"}:
            text += "s"
        text = text[:1].upper() + text[1:] if name[0].isupper() else text
        self.push([one._replace(place=token.place) for one in tokenize(text)])

    def _define_acronym(self, token: Token) -> None:
        if token.text in {"newacronym", "newabbreviation"}:
            self.option()
        key = text_of(self.argument())
        if token.text in {"DeclareAcronym", "newglossaryentry"}:
            found = _FIELD.findall(text_of(self.argument())[:_LONGEST_TERM])
            fields = {name: held or bare.strip() for name, held, bare in reversed(found)}
            short = fields.get("short") or fields.get("name") or key
            self._acronyms[key] = (short, fields.get("long") or short, fields.get("first", ""))
            if "description" in fields:
                self._glossary.append(rf"\item[] {short}: {fields['description']}")
        else:
            short = text_of((self.option() if token.text == "acro" else self.argument()) or [])
            self._acronyms[key] = (short or key, text_of(self.argument()), "")

    def _print_glossary(self, token: Token) -> None:
        self.option()
        items, self._glossary = " ".join(self._glossary), []
        glossary = tokenize(rf"\begin{{description}}{items}\end{{description}}")
        self.push([one._replace(place=token.place) for one in glossary])

    # Files.

    def _input(self, token: Token) -> None:
        name, place = token.text, token.place
        written = text_of(self.argument() if self.next_is("{") else [self.take() or token])
        current = self.open_files[-1] if self.open_files else ""
        path = self.files.find(written, ".tex", current)
        file = self.files.name_of(path) if path is not None else ""
        self._opened += 1
        if path is None:
            # Packages look for files of the system and of their own.
            if not current.endswith(_PACKAGES) and not written.endswith((".pgf", ".tikz")):
                self._warn(place, f"\\{name}{{{written}}} names no file that could be read; what "
                                  "it says was not checked.")  # fmt: skip
        elif file in self.open_files or self._opened > _MOST_INPUTS:
            self._warn(place, f"\\{name}{{{written}}} includes a file in itself; it was left out.")
        else:
            if name == "include":
                self._out.add()
            self.push_file(self.files.read(path), file)

    def _package(self, token: Token) -> None:
        """Read the packages that stand beside the draft: their macros may be text."""
        name = token.text
        options = text_of(self.option() or [])
        written = text_of(self.argument())
        if name == "documentclass" and self.open_files[-1:] not in ([], [""]):
            # A chapter that can be typeset alone.
            while self.up_to("begin", "word") is not None:
                if text_of(self.argument()) == "document":
                    return
            return
        is_class = name in {"documentclass", "LoadClass"}
        wanted = [(one, ".cls" if is_class else ".sty") for one in written.split(",")]
        if is_class and written == "subfiles":
            wanted = [(options, ".tex")]
        for one, suffix in wanted:
            path = self.files.find(one, suffix)
            if path is not None and self.files.name_of(path) not in self.open_files:
                text = self.files.read(path)
                if suffix == ".tex":  # the main file of a chapter, for its macros
                    preamble = text.partition(r"\begin{document}")[0]
                    text = re.sub(r"\\documentclass[^{}]*\{[^{}]*\}", "", preamble)
                self.push_file(text, self.files.name_of(path))
            elif path is None and suffix == ".tex":
                self._warn(token.place, f"the main file {one} could not be read: its macros are "
                                        "unknown.")  # fmt: skip

    def _bibliography(self, token: Token) -> None:
        self.takes("*")
        self.option()
        for one in text_of(self.argument()).split(","):
            self._bibliographies.setdefault(one.strip(), token.place)

    def _warn(self, place: Place, sentence: str) -> None:
        self.files.warnings.append(f"{self.files.where(place)}: {sentence}")

    # Environments.

    def _begin(self, token: Token) -> None:
        place = token.place
        env = text_of(self.argument())
        bare = env.rstrip("*")
        if env == "document":
            self._out, self._notes, self._note_count = Output(), [], 0
        elif env in self.environments:
            macro, end = self.environments[env]
            self._ends.append((env, end))
            self._level += 1
            self.call(macro, place)
        elif bare in _DRAWINGS:
            self.apart(self.environment(env) or [], self._only_labels)
        elif bare in _FORMULAS:
            self._display(env, place)
        elif bare in _TABLES and not (self._is_math and bare == "array"):
            self._tabular(env, place)
        elif bare in _FLOATS:
            self._float(env)
        elif env == "thebibliography":
            self._entries += self._items(self.environment(env) or [])
        else:
            self._open(env, bare)

    def _only_labels(self) -> None:
        while self.up_to("label", "word") is not None:
            self._labels[text_of(self.argument())] = ("", "…")

    def _open(self, env: str, bare: str) -> None:
        """Begin an environment whose text is read like any other."""
        self._level += 1
        if self._is_math:
            self._skip_arguments("om" if bare == "array" else "o")
            return
        self._out.add()
        self._skip_arguments(_ARGUMENTS.get(env, "o"))
        if bare in _LISTS:
            self._lists.append(_LISTS[bare])
        elif bare in _QUOTES:
            self._out.prefix += "> "

    def _skip_arguments(self, kinds: str) -> None:
        for kind in kinds:
            if kind == "o":
                self.option()
            else:
                self.argument()

    def _end(self, _token: Token) -> None:
        env = text_of(self.argument())
        bare = env.rstrip("*")
        self._level -= 1
        if env == "document":
            if self.open_files[-1:] in ([], [""]):
                self._tokens.clear()
            else:
                self.end_file()
        elif self._ends and self._ends[-1][0] == env:
            self.push(self._ends.pop()[1])
        elif not self._is_math:
            self._out.add()
            if bare in _LISTS and self._lists:
                self._lists.pop()
                self._out.mark = ""
            elif bare in _QUOTES:
                self._out.prefix = self._out.prefix.removesuffix("> ")

    def _display(self, env: str, place: Place) -> None:
        self._skip_arguments(_ARGUMENTS.get(env.rstrip("*"), ""))
        tokens = self.environment(env)
        if tokens is None:
            self._out.space()
            return
        is_numbered = not env.endswith("*") and env not in {"math", "displaymath"}
        if is_numbered:
            self._step("equation")
        table = Table(self._out, is_formula=True) if is_numbered and env in _ROWS else None
        self._formula(tokens, place, is_display=True, table=table)

    def _float(self, env: str) -> None:
        bare = env.rstrip("*")
        self._skip_arguments(_ARGUMENTS.get(bare, "o"))
        tokens = self.environment(env)
        if tokens is None:
            return
        self._floats.append(_FLOATS[bare])
        output = self._inside(tokens, Output())
        self._floats.pop()
        output.add()
        if self._floats:
            self._out.add(output.blocks)
        else:
            self._out.waiting += output.blocks
            if not self._out.last:
                self._out.add()

    # Tables.

    def _tabular(self, env: str, place: Place) -> None:
        self.option()
        for _ in range(int(_TABLES[env.rstrip("*")]) + env.endswith("*")):
            self.argument()
        tokens = self.environment(env)
        if tokens is None:
            return
        self._out.add()
        table = Table(self._out)
        self._floats.append("table")  # captions of long tables are inside them
        self._inside(tokens, table.cell, table=table)
        self._floats.pop()
        self._end_row(table)
        self._out = table.outer
        rows = table.rows
        # Without a rule below it no row is known to be a head.
        head_rows = table.head_rows if table.head_rows < len(rows) else 0
        if not rows:
            return
        width = max(len(row) for row in rows)
        rows = [row + [[]] * (width - len(row)) for row in rows]
        head = merge_heads(rows[:head_rows]) or [[]] * width
        self._out.blocks += [
            replace(table_row(head, place), kind="code"),
            Block("", [("|---" * width + "|", place)], "row"),
            *(table_row(row, place) for row in rows[head_rows:]),
        ]

    def _open_table(self) -> Table | None:
        """Return the table whose cell is read, None inside braces or elsewhere."""
        table = self._table
        return None if table is None or table.is_formula or self._level > 0 else table

    def _end_cell(self, table: Table) -> None:
        runs = [(text.replace("|", "\\|"), place) for text, place in table.cell.runs()]
        table.row += [runs, *([] for _ in range(table.width - 1))]
        table.width = 1
        self._out = table.cell = Output()

    def _end_row(self, table: Table) -> None:
        self._end_cell(table)
        table.rows += [table.row] * any(table.row)
        table.row = []

    def _line_break(self, token: Token) -> None:
        if token.text == "\\":
            self.takes("*")
            self.option()
        if (table := self._open_table()) is not None:
            self._end_row(table)
            return
        self._out.space()
        if self._table is not None and self._level <= 0:
            self._step("equation")

    def _unnumbered(self, _token: Token) -> None:
        if self._table is not None:
            self._counts["equation"] -= 1

    def _rule(self, token: Token) -> None:
        if token.text == "midrule":
            self.option()
        if (table := self._open_table()) is None:
            return
        self._end_row(table)
        if token.text in {"midrule", "hline"}:
            # The first one below a row parts the head from the rest.
            rows = len(table.rows)
            table.head_rows = table.head_rows or (rows if rows <= _MOST_HEADS else 0)
        elif token.text == "endfirsthead":
            table.head_rows = len(table.rows)
        else:  # what is printed on other pages
            table.head_rows = table.head_rows or len(table.rows)
            del table.rows[table.head_rows :]

    def _span(self, _token: Token) -> None:
        count = text_of(self.argument())
        self.argument()
        if self._table is not None and count.isdigit():
            self._table.width = min(int(count), _MOST_COLUMNS)
        self.push(self.argument())

    def _items(self, tokens: list[Token]) -> Iterator[Entry]:
        starts = [at for at, t in enumerate(tokens) if (t.kind, t.text) == ("word", "bibitem")]
        for start, following in zip(starts, [*starts[1:], len(tokens)], strict=True):
            found: list[str] = []

            def read(found: list[str] = found) -> None:
                self.option()
                found.append(text_of(self.argument()))
                rest = iter(self.next, None)
                found.append(
                    self._plain([t._replace(kind="space") if t.kind == "par" else t for t in rest])
                )

            self.apart(tokens[start + 1 : following], read)
            text, place = " ".join(found[1].split()), tokens[start].place
            yield replace(parse_entry(text, found[0]), line=place.line, file=place.file)

    # Commands that need no more than a few lines.

    def _begin_appendix(self, _token: Token) -> None:
        self._is_appendix = True
        self._counts.update(dict.fromkeys(_COUNTED, 0))

    def _space_if_needed(self, _token: Token) -> None:
        following = self.next()
        if following is not None:
            self.push([following])
            if following.kind == "word" or following.text[:1].isalnum():
                self._out.space()

    def _substance(self, token: Token) -> None:
        text = text_of(self.argument()).replace("->", "→")
        self._out.write(re.sub(r"[_^{}$]", "", text), token.place)

    # The end.

    def finish(self) -> DraftSource:
        """Return all that was read."""
        self._out.add()
        self._flush_notes()
        for key, place in self._refs.items():
            if key not in self._labels:
                self._warn(place, f"\\ref{{{key}}} points at no \\label.")
        entries = (*self._entries, *self._bibliography_entries())
        text, lines = self._written()
        return DraftSource(
            text,
            hash_bytes(b"\0".join(self.files.contents.values())),
            entries=entries,
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
            yield from read_biber(text, file)
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
            start = _LINE_START.match("".join(text for text, _ in runs[:3]))
            if start is not None and block.kind == "words" and not block.prefix.startswith("#"):
                at, number = start.start(1), 0
                while at >= len(runs[number][0]):
                    at, number = at - len(runs[number][0]), number + 1
                text, place = runs[number]
                runs[number] = (f"{text[:at]}\\{text[at:]}", place)
            for text, place in runs:
                add(text, place)
        add("\n")
        return "".join(parts), lines


# What is no macro of its own even where a draft defines it.
_STRUCTURE = frozenset(_LEVELS) | names("begin end input include item footnote caption label ref")


@cache
def _handlers() -> dict[str, Callable[[_LatexReader, Token], None]]:
    reader = _LatexReader
    table: dict[Callable[[_LatexReader, Token], None], str] = {
        reader._section: " ".join(_LEVELS),
        reader._footnote: "footnote",
        reader._caption: "caption subcaption",
        reader._label: "label lstlabel",
        reader._ref: "ref cref Cref autoref eqref vref labelcref subref",
        reader._item: "item",
        reader._scripted: "textsuperscript textsubscript",
        reader._quantity: "SI si num numrange numlist ang qty unit SIrange SIlist qtyrange qtylist",
        reader._term: "gls Gls glspl Glspl ac Ac acp acs acl acf acrshort acrlong acrfull glsfull",
        reader._print_glossary: "printglossary printglossaries printnoidxglossary",
        reader._define_acronym: "newacronym newabbreviation acro DeclareAcronym newglossaryentry",
        reader._input: "input include subfile",
        reader._package: "usepackage RequirePackage documentclass LoadClass",
        reader._bibliography: "bibliography addbibresource addglobalbib",
        reader._begin: "begin",
        reader._end: "end",
        reader._fraction: "frac tfrac dfrac cfrac",
        reader._line_break: "\\ tabularnewline cr",
        reader._unnumbered: "nonumber notag",
        reader._rule: "midrule hline endhead endfirsthead endfoot endlastfoot",
        reader._span: "multicolumn",
        reader._begin_appendix: "appendix",
        reader._space_if_needed: "xspace",
        (lambda own, _: own._step(text_of(own.argument()))): "refstepcounter",
        reader._substance: "ce",
        (lambda own, _: own._out.add()): "par",
        (lambda own, _: own.end_file()): "endinput",
    }  # fmt: skip
    return {name: handler for handler, names in table.items() for name in names.split()}


@cache
def _symbol(name: str) -> str | None:
    """Return the text that a command stands for; None where nobody knows it."""
    shown = getattr(_text_context().get_macro_spec(name), "simplify_repl", None)
    is_text = isinstance(shown, str) and "%" not in shown and len(shown) <= 8
    return str(shown).strip() if is_text else None


@cache
def _text_context():  # type: ignore[no-untyped-def]
    from pylatexenc.latex2text import get_default_latex_context_db

    return get_default_latex_context_db()
