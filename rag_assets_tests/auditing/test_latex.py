"""Drafts in LaTeX: what is read of them, where it stands, and that it says what Markdown says."""

import json
import os
from bisect import bisect_right
from collections import Counter
from pathlib import Path

import pytest

from rag_assets.auditing import Draft, draft_key, latex_source, list_drafts, parse_draft, read_draft
from rag_assets.auditing.latex import read_latex
from rag_assets.auditing.storing import find_drafts
from rag_assets.model import UsageError
from rag_assets_tests.laws.driver import make_workspace

PAIRING = (
    Path(os.environ.get("RAG_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
    / "pairing"
)


def write(folder: Path, **files: str) -> Path:
    """Write files, `__` in a name for a folder and `_` for the dot; return the main one."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "main.tex"


def body(text: str) -> str:
    """Return the Markdown of a document's body."""
    document = "\\documentclass{article}\n\\begin{document}\n%s\n\\end{document}\n"
    return read_latex(Path("draft.tex"), (document % text).encode()).text.strip()


def claims(draft: Draft) -> list[tuple[str, list[str]]]:
    return [(s.claim, [c.label for c in s.citations]) for s in draft.sentences]


@pytest.mark.parametrize(
    ("latex", "markdown"),
    [
        (r"fell by \SI{5}{\micro\gram}", "fell by 5 μg"),
        (r"fell by $5\,\mu\mathrm{g}$", "fell by 5 μg"),
        (r"held \qty{10.05}{\micro\gram\per\litre}", "held 10.05 μg/L"),
        (r"held \SI{12}{\mg\per\kg\per\day}", "held 12 mg/(kg·d)"),
        (r"rose to \qty{217}{\celsius}", "rose to 217 °C"),
        (r"rose to $25\,^\circ\mathrm{C}$", "rose to 25 °C"),
        (r"rose by \SI{9.81}{\metre\per\square\second}", "rose by 9.81 m/s²"),
        (r"rose by \num{1.2e-3}", "rose by 1.2 × 10⁻³"),
        (r"rose by $1.2\times 10^{-3}$", "rose by 1.2 × 10⁻³"),
        (r"was \num{1.25(3)}", "was 1.25 ± 0.03"),
        (r"took \SIrange{5}{10}{\minute}", "took 5 min to 10 min"),
        (r"held \numlist{1;2;3} cups", "held 1, 2 and 3 cups"),
        (r"was found ($p<0.05$, $n=120$)", "was found (p < 0.05, n = 120)"),
        (r"was 50\,\% of 10{,}000", "was 50 % of 10,000"),
        (r"was \qty{50}{\percent} in 10--12", "was 50% in 10–12"),
        (r"emits CO$_2$ and \ce{H2O}", "emits CO₂ and H2O"),
        (r"is $\frac{1}{2}$ or $\frac{a+b}{c}$", "is 1/2 or (a+b)/c"),
        (r"is in $[0,1]$ and $O(\sqrt{KT})$", "is in [0,1] and O(√(KT))"),
        (r"met G\"odel, \v{C}ech, Stra\ss e, na\"{\i}ve", "met Gödel, Čech, Straße, naïve"),
        (r"is a \emph{very} \textbf{strong} {\em claim}", "is a very strong claim"),
        (r"says ``the tea was still warm'' --- twice", "says “the tea was still warm” — twice"),
        (r"says \enquote{the tea was still warm}", "says “the tea was still warm”"),
        (r"is R\&D at a\_b and \{x\} \textbackslash y", r"is R&D at a_b and {x} \\y"),
        (r"is c*d*e", r"is c\*d\*e"),
        (r"is \href{https://example.org/50%}{here}", "is here"),
        (r"is \textcolor{red}{red}\vspace{2mm}\index{red} now", "is red now"),
    ],
)
def test_a_sentence_says_what_it_says_in_markdown(latex: str, markdown: str) -> None:
    typeset = parse_draft("d.tex", f"The tea {latex} \\cite{{lee}}.".encode())
    typed = parse_draft("d.md", f"The tea {markdown} [@lee].".encode())
    assert claims(typeset) == claims(typed) != []


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (r"\citep[see][p.~3]{a,b}", r"\citep[see][p. 3]{a, b}"),
        (r"\citep[see also][]{a}", r"\citep[see also][]{a}"),
        (r"\parencites(cf.)()[1]{a}[2]{b}", r"\parencites(cf.)()[1]{a}[2]{b}"),
        (r"\cite[\S 3, {[x]}]{a}", r"\cite[§3, x]{a}"),
        (r"\citeauthor*{a}", r"\citeauthor*{a}"),
        (r"\volcite[see]{2}[p.~3]{a}", r"\volcite[see][p. 3]{a}"),
        (r"\textsuperscript{\cite{a}}", r"\cite{a}"),
        (r"$^{[\cite{a}]}$", r"\cite{a}"),
        (r"\textcquote[3]{a}{said so}", r"“said so” \cite[3]{a}"),
        (r"\nocite{a}\citestyle{apalike}", ""),
        (r"\citetext{see \citealp{a}}", r"(see \citealp{a})"),
    ],
)
def test_citations_stay_as_they_are_written(written: str, kept: str) -> None:
    assert body(f"So it is {written} here") == f"So it is {kept} here".replace("  ", " ")


@pytest.mark.parametrize(
    "unread",
    [
        "% \\cite{no}",
        "\\iffalse \\cite{no} \\ifx\\a\\b \\fi \\cite{no}\\fi",
        "\\begin{comment}\n\\cite{no}\n\\end{comment}",
        "\\newif\\ifdraft \\ifdraft \\cite{no}\\else\\fi",
        "\\newcommand{\\never}{\\cite{no}}",
        "\\begin{tikzpicture}\\node {\\cite{no}};\\end{tikzpicture}",
        "\\nocite{no}",
        "\\end{document} \\cite{no}",
    ],
)
def test_what_is_not_typeset_is_not_read(unread: str) -> None:
    assert body(f"Before.\n\n{unread}\n").strip() == "Before."


def test_verbatim_text_is_code() -> None:
    written = "Write \\verb|\\cite{no}|:\n\\begin{verbatim}\n\\cite{no}\n\\end{verbatim}\n"
    assert body(written) == "Write `\\cite{no}`:\n\n~~~\n\\cite{no}\n~~~"
    assert not parse_draft("d.tex", written.encode()).sentences


@pytest.mark.parametrize(
    ("definition", "used", "shown"),
    [
        (r"\newcommand{\MR}{\textsc{MapReduce}}", r"\MR~is, \MR{}s", "MapReduce is, MapReduces"),
        (r"\newcommand*\see[2][p. 1]{(see \cite[#1]{#2})}", r"\see{a} \see[9]{b}",
         r"(see \cite[p. 1]{a}) (see \cite[9]{b})"),
        (r"\def\half#1{half of #1}", r"\half{it} and \half x", "half of it and half of x"),
        (r"\NewDocumentCommand{\n}{s m O{kg}}{#2 #3\IfBooleanTF{#1}{!}{}}", r"\n{5} \n*{6}[g]",
         "5 kg 6 g!"),
        (r"\let\oldcite\cite \renewcommand{\cite}[1]{\oldcite{#1}}", r"x \cite{a}",
         r"x \oldcite{a}"),
        (r"\newacronym{mri}{MRI}{magnetic resonance imaging}", r"\ac{mri}, \Gls{mri}, \acl{mri}",
         "magnetic resonance imaging (MRI), MRI, magnetic resonance imaging"),
        (r"\newglossaryentry{gof}{name={GoF}, first={GoF \cite{gof}}, description={Of four}}",
         r"\glspl{gof} or \gls{gof}. \printglossary", "GoF \\cite{gof} or GoF.\n\n- GoF: Of four"),
        (r"\newenvironment{note}[1]{Note #1: }{ End.}", r"\begin{note}{7}text\end{note}",
         "Note 7: text End."),
        (r"\usepackage{xspace}\newcommand{\w}{water\xspace}", r"\w is wet. Hot \w.",
         "water is wet. Hot water."),
    ],
)  # fmt: skip
def test_own_macros_are_expanded(definition: str, used: str, shown: str) -> None:
    document = f"{definition}\n\\begin{{document}}\n{used}\n\\end{{document}}"
    assert read_latex(Path("d.tex"), document.encode()).text.strip() == shown


def test_rows_of_formulas_are_numbered_and_braces_keep_a_cell_together() -> None:
    formula = r"\begin{align} a \\ b \nonumber \\ c \label{e} \end{align} See \eqref{e}."
    assert body(formula).endswith("See (2).")
    table = (
        r"\begin{tabular}{ll} A & \makecell{b\\c} \\ \hline 1 & \parbox{2cm}{x\\y} \\ \end{tabular}"
    )
    assert body(table) == "| A | b c |\n|---|---|\n| 1 | x y |"


@pytest.mark.parametrize(
    "hostile",
    [
        r"\def\a{\a\a}\a",
        r"\newcommand{\a}[1]{\a{#1#1}}\a{x}",
        r"\begin{figure}" * 200,
        r"\footnote{" * 300,
        "{" * 5000,
        "$" * 999,
        r"\frac" * 500,
        r"\cite[" * 300,
        r"\begin{tabular}{l} a & \multicolumn{999999}{l}{b} \end{tabular}",
    ],
)
def test_hostile_latex_ends_and_says_so(hostile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latex_source, "_MOST_EXPANSIONS", 1_000)
    monkeypatch.setattr(latex_source, "_MOST_TOKENS", 100_000)
    source = read_latex(Path("d.tex"), f"Before. {hostile} After.".encode())
    assert source.text.startswith("Before.")
    assert not source.warnings or "macros" in source.warnings[0]


ENGLISH = r"""
\documentclass{report}
\usepackage{mine}
\usepackage{siunitx}
\addbibresource{bib/refs.bib}
\begin{document}
\chapter{Doses}\label{ch:doses}
Tea lowers pressure by \SI{5}{\mmHg}~\autocite[12--14]{lee2020},
and \COO is in it \strong{too}.% nobody

As \cref{tab:dose,fig:cup} show\footnote{But \textcite{mueller} says the
opposite of it.}, one cup is enough (\autoref{ch:doses}).
\input{sections/results}
\include{sections/missing}
\input{../../outside}
See \ref{nowhere} and \ref{sec:results}.
\end{document}
"""
RESULTS = r"""
\section{\label{sec:results}Results}
\begin{table}[ht]
  \caption[Short]{Doses of tea \parencite{lee2020}.}\label{tab:dose}
  \begin{tabular}{@{}lrr@{}}
    \toprule
    & \multicolumn{2}{c}{Dose} \\ \cmidrule(lr){2-3}
    Group & Low (\si{\milli\gram}) & High \\
    \midrule
    Tea \cite{mueller} & 5 & $10 \pm 2$ \\
    Water & 0 & 1 \\[2pt]
    \bottomrule
  \end{tabular}
\end{table}
\begin{figure}\includegraphics[width=5cm]{cup}\caption{A cup.}\label{fig:cup}\end{figure}
\begin{enumerate}
  \item Tea is hot \cite{lee2020}.
  \item[(b)] It cools.
\end{enumerate}
\begin{quote}
Tea is the drink of those who wait for the rain to end. \cite{mueller}
\end{quote}
\input{results}
"""
STYLE = r"""
\ProvidesPackage{mine}
\RequirePackage{xspace}
\newcommand{\COO}{CO\textsubscript{2}\xspace}
\newcommand{\my@bold}[1]{\textbf{#1}} \newcommand{\strong}[1]{\my@bold{#1}}
"""
REFERENCES = r"""
@string{tj = "Tea Journal"}
@article{lee2020, author={Lee, Ann and others}, title={Tea}, journal=tj, year=2020}
@inbook{mueller, author={M{\"u}ller, J{\"u}rgen}, title={{\"U}ber Tee}, crossref={book}}
@book{book, title={All About Tea}, year={2019}, editor={Poe, A}}
"""


def test_a_thesis_of_several_files(tmp_path: Path) -> None:
    main = write(tmp_path / "thesis", main_tex=ENGLISH, sections__results_tex=RESULTS,
                 mine_sty=STYLE, bib__refs_bib=REFERENCES)  # fmt: skip
    (tmp_path.parent / "outside.tex").write_text("\\cite{secret}", encoding="utf-8")
    draft = read_draft(main)
    assert [(s.file, s.line, s.claim, [c.label for c in s.citations]) for s in draft.sentences] == [
        ("", 8, "Tea lowers pressure by 5 mmHg, and CO₂ is in it too.", ["lee2020"]),
        ("", 11, "The cited work says the opposite of it.", ["mueller"]),
        ("sections/results.tex", 4, "Doses of tea.", ["lee2020"]),
        ("sections/results.tex", 10, "Tea: Dose Low (mg) 5, Dose High 10 ± 2", ["mueller"]),
        ("sections/results.tex", 17, "Tea is hot.", ["lee2020"]),
        ("sections/results.tex", 21, "Tea is the drink of those who wait for the rain to end.",
         ["mueller"]),
    ]  # fmt: skip
    assert draft.sentences[0].citations[0].hint.pages == ((12, 14),)  # type: ignore[union-attr]
    assert draft.sentences[-1].quotations
    assert "As table 1.1 and figure 1.1 show[^1], one cup is enough (chapter 1)." in draft.text
    assert "See ?? and 1.1." in draft.text
    told = " ".join(draft.warnings)
    for place in (
        "main.tex, line 14: \\include{sections/missing}",
        "main.tex, line 15: \\input{../../outside}",
        "main.tex, line 16: \\ref{nowhere}",
        "sections/results.tex, line 23: \\input{results} includes",
    ):
        assert place in told
    entries = {entry.label: entry for entry in draft.references}
    assert (entries["mueller"].authors, entries["mueller"].year) == (("Müller",), "2019")
    assert (entries["mueller"].title, entries["lee2020"].file) == ("Über Tee", "bib/refs.bib")


CHINESE = r"""
\documentclass[UTF8]{ctexart}
\newcommand{\upcite}[1]{\textsuperscript{\cite{#1}}}
\begin{document}
\section{背景}\label{sec:a}
深度学习在情绪分类中取得了
显著进展\upcite{yin2017,guo2020}。炉温应控制在\SI{217}{\celsius}以上$^{\cite{li}}$；
殷昊等\citet{yin2017}指出，\autoref{sec:a}的准确率下降$12.5\%$。
\begin{thebibliography}{9}
\bibitem{yin2017} 殷昊, 李寿山, 等. 不平衡情绪分类方法[J]. 中文信息学报, 2017, 31(5): 55-65.
\bibitem[Guo(2020)]{guo2020} Guo D. \emph{Social} network mining[D]. 2020.
\end{thebibliography}
\end{document}
"""


def test_a_chinese_thesis_with_its_own_bibliography(tmp_path: Path) -> None:
    draft = read_draft(write(tmp_path, main_tex=CHINESE))
    assert claims(draft) == [
        ("深度学习在情绪分类中取得了显著进展。", ["yin2017", "guo2020"]),
        ("炉温应控制在217 °C以上；该文献指出，第1节的准确率下降12.5%。", ["li", "yin2017"]),
    ]
    assert [(e.label, e.authors, e.year, e.line) for e in draft.references] == [
        ("yin2017", ("殷昊", "李寿山"), "2017", 10),
        ("guo2020", ("Guo",), "2020", 11),
    ]


def test_entries_of_a_list_by_biber() -> None:
    written = r"""
      \entry{lee2020}{article}{}
        \name{author}{2}{}{%
          {{hash=1}{%
             family={Lee},
             given={Ann}}}%
          {{hash=2}{%
             family={M{\"u}ller}}}%
        }
        \strng{namehash}{1}
        \field{title}{On {Tea}}
        \field{year}{2020}
        \verb{doi}
        \verb 10.1000/tea
        \endverb
      \endentry
    """
    from rag_assets.auditing.references import read_biber

    (entry,) = read_biber(written, "main.bbl")
    assert (entry.label, entry.authors, entry.title) == ("lee2020", ("Lee", "Müller"), "On Tea")
    assert (entry.year, entry.doi) == ("2020", "10.1000/tea")


def test_a_draft_is_another_when_a_file_that_it_includes_is(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library")
    main = write(workspace.drafts, main_tex="\\begin{document}\\input{part}\\end{document}",
                 part_tex="Tea is hot \\cite{lee}. % \\input{old}", old_tex="Alone.")  # fmt: skip
    assert [path.name for path in list_drafts(workspace)] == ["main.tex", "old.tex"]
    before = draft_key(main)
    assert find_drafts(workspace, before) == [main]
    with pytest.raises(UsageError, match=r"part\.tex is a part of main\.tex"):
        find_drafts(workspace, draft_key(main.with_name("part.tex")))
    write(workspace.drafts, part_tex="Tea is cold \\cite{lee}.")
    assert draft_key(main) != before
    assert read_draft(main).digest[:12] in draft_key(main)


def test_an_encoding_is_read_as_declared(tmp_path: Path) -> None:
    path = tmp_path / "main.tex"
    path.write_bytes("\\usepackage[latin1]{inputenc}\\begin{document}Für".encode("latin-1"))
    assert read_latex(path).text == "Für\n"
    path.write_bytes("\\begin{document}\nFür".encode("latin-1"))
    with pytest.raises(UsageError, match=r"main\.tex: line 2 is not UTF-8"):
        read_latex(path)


@pytest.mark.skipif(not PAIRING.is_dir(), reason=f"no {PAIRING}; set RAG_SHARED_DATA")
def test_every_citation_of_a_real_draft_is_found_and_nothing_else() -> None:
    draft, source = read_draft(PAIRING / "paper.tex"), read_latex(PAIRING / "paper.tex")
    starts = [start for start, *_ in source.lines]
    found = Counter[tuple[str, int, str]]()
    for sentence in draft.all_sentences:
        for cited in sentence.citations:
            _, file, line = source.lines[bisect_right(starts, cited.start) - 1]
            found[file or "paper.tex", line, draft.text[cited.start : cited.end]] += 1
    rows = map(json.loads, (PAIRING / "truth.jsonl").read_text(encoding="utf-8").splitlines())
    truth = Counter((r["file"], r["line"], r["entry"]) for r in rows if r["file"].endswith(".tex"))
    assert found == truth
