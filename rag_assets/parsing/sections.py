"""Sections of a document, and what a section is about by its title."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rag_assets.model import Block, Section, SectionCategory, SectionSubtype

# What a section is about, as its title says it.
#
# The words are those of spec 002 §2.1 and their kin in Chinese. Where a
# title names several things, these rules decide, in this order:
#
# 1. End matter (references, appendix, funding …) is Other: it is no text of the paper proper.
# 2. "Related work" wins over "background" (the section tells of others' papers), but not over
#    "introduction" (which holds the paper's own claims and is what a prompt gets as background).
# 3. An "experimental section", "procedure" or "part" is a Method, as chemists use the word;
#    "experiments" and "experimental setup" are Evaluation.
# 4. Of parts joined by "and", "of", "for", a colon … the first that names something counts:
#    "Results and discussion" holds the data, so it is Evaluation; "Discussion of results" is
#    Conclusion; "Materials and methods" is Method.
# 5. Inside a part the last word counts, since it is the noun: "Model evaluation" is Evaluation,
#    "Experimental methods" is Method, 模型评价 is Evaluation.
#
# Weaker words (data, algorithm, participants, performance …) say something only where no section
# around says more: "Datasets" under "Experiments" stays Evaluation.

_A, _I, _M = SectionCategory.ABSTRACT, SectionCategory.INTRODUCTION, SectionCategory.METHOD
_E, _C, _O = SectionCategory.EVALUATION, SectionCategory.CONCLUSION, SectionCategory.OTHER
_R = SectionCategory.RELATED_WORK

_Words = tuple[tuple[SectionCategory, re.Pattern[str]], ...]


def _words(*rows: tuple[SectionCategory, str]) -> _Words:
    return tuple((category, re.compile(words, re.IGNORECASE)) for category, words in rows)


_NUMBER = re.compile(
    r"^\W*(?:(?:chapter|section|part)\s+)?"
    r"(?:(?:\d+(?:\.\d+)*|[ivxlc]+(?=[.:)\s])|[a-z](?=[.)]))[.:)]?\s+|\d+(?:\.\d+)*[.、]?\s*|"
    r"第?\s*[一二三四五六七八九十百\d]+\s*[章节部分、.．]+\s*|"
    r"[（(][一二三四五六七八九十\d]+[)）]\s*)?",
    re.IGNORECASE,
)
# Whole titles only: "abstract interpretation" is a method.
_ABSTRACT = re.compile(
    r"\W*(?:(?:graphical|structured|extended|visual|english|chinese|video) )?abstracts?\W*|"
    r"(?:executive|lay|plain[- ]language) summary\W*|(?:中文|英文|内容)?[摘提]\s*要\W*",
    re.IGNORECASE,
)
_SUMMARY = re.compile(r"\W*summary\W*", re.IGNORECASE)
_RELATED_WORK = re.compile(
    r"\b(?:related (?:works?|stud(?:y|ies)|research|literature|approaches)|(?:prior|previous|"
    r"earlier|existing) (?:works?|stud(?:y|ies)|research|literature)|literature (?:review|survey)|"
    r"review of (?:the )?(?:related )?literature|state[- ]of[- ]the[- ]art)\b|"
    r"相关(?:工作|研究|文献)|文献综述|研究现状|研究综述|国内外(?:研究)?现状",
    re.IGNORECASE,
)
_INTRODUCTION_FIRST = re.compile(r"\W*(?:introduction|引\s*言|绪\s*论|前\s*言)", re.IGNORECASE)
_EXPERIMENTAL_METHOD = re.compile(
    r"\W*(?:experimental|experimental (?:sections?|parts?|procedures?|details?|materials?|"
    r"techniques?|protocols?|design)|实验部分)\W*|"
    r"\bexperimental (?:sections?|procedures?|protocols?|techniques?)\b",
    re.IGNORECASE,
)
_STRONG = _words(
    (
        _I,
        (
            r"\b(?:introduction|introductory|backgrounds?|motivations?)\b|"
            r"引\s*言|绪\s*论|前\s*言|导\s*[言论]|背景|动机|问题(?:重述|的?提出)"
        ),
    ),
    (
        _M,
        (
            r"\b(?:methods?|methodolog(?:y|ies|ical)|approach(?:es)?|models?|architectures?|"
            r"frameworks?)\b|方法|模型|框架|架构"
        ),
    ),
    (
        _E,
        (
            r"\b(?:experiments?|experimental|experimentation|results?|evaluations?|ablations?|"
            r"comparisons?|findings|benchmarks?)\b|"
            r"实验|试验|结果|评估|评价|评测|消融|对比|比较|测试|灵敏度分析"
        ),
    ),
    (
        _C,
        (
            r"\b(?:conclusions?|concluding|discussions?|summary|limitations?|outlook|"
            r"future (?:works?|directions?|research|plans?)|implications|perspectives|"
            r"threats to validity)\b|结\s*论|总\s*结|讨\s*论|结\s*语|展\s*望|小\s*结"
        ),
    ),
)
_WEAK = _words(
    (
        _I,
        (
            r"\b(?:overview|statement of need|contributions?|organi[sz]ation of|objectives?|aims?|"
            r"research questions?|significance|purpose|scope)\b|"
            r"概述|概况|研究(?:目的|意义|内容)|问题分析"
        ),
    ),
    (
        _M,
        (
            r"\b(?:materials?|algorithms?|datas?ets?|data|participants?|subjects|patients|"
            r"procedures?|design|implementation|preliminar(?:y|ies)|notations?|"
            r"problem (?:statement|formulation|definition|setting)|theory|theoretical|"
            r"formulation|systems?|statistical analys[ei]s|"
            r"data analys[ei]s|sampl(?:e|es|ing)|set-?up|settings?|"
            r"protocols?|measurements?|instruments?|techniques?|assumptions?|derivation|proofs?|"
            r"training|estimation)\b|"
            r"算法|数据|材料|实现|设计|假设|符号说明|求解|推导|理论|原理|系统"
        ),
    ),
    (
        _E,
        (
            r"\b(?:case stud(?:y|ies)|performance|simulations?|applications?|examples?|analys[ei]s|"
            r"observations?|validation|accuracy|statistics|outcomes?|baselines?|metrics)\b|"
            r"仿真|案例|应用|性能|验证|分析"
        ),
    ),
)
# What joins the parts of a title; the words after it tell more of the part before.
_JOINT = re.compile(
    r"\s+(?:and|or|of|for|in|on|with|to|by|from|using|via|under|at|as)\s+|"
    r"\s*[:：;,，、&/（(—–]\s*|\s-\s|[与和及的之]"
)
_END_MATTER = re.compile(
    r"\W*(?:(?:authors?['’]?s?['’]?\s+)?contributions?(?: of authors?| statement)?|"
    r"(?:author|authorship) (?:contributions?|information|statement|details|note)s?(?: statement)?|"
    r"(?:data|code|software|materials?)(?:(?:,| and| &)? (?:data|code|software|materials?))*"
    r" (?:availability|accessibility|sharing)(?: statement)?|availability(?: of .*| and .*)?|"
    r"(?:potential |declaration of |disclosure of )?(?:conflicts?|conflicting|competing|financial) "
    r"(?:of )?(?:interests?|disclosures?)(?: statement| disclosure)?|declarations?(?: of .*)?|"
    r"disclosures?(?: statement)?|ethic(?:s|al)(?: (?:approval|statement|considerations?|"
    r"declarations?|committee.*|and .*|standards))?|(?:patient )?consent(?: (?:for|to) .*)?|"
    r"(?:list of )?abbreviations?(?: used)?|nomenclature|glossary|key\s?words?.*|index terms|"
    r"(?:table of )?contents|list of (?:figures|tables|algorithms|symbols|acronyms)|index|"
    r"orcid.*|publisher['’]s note|open access|copyright.*|licen[cs]e|additional information|"
    r"how to cite.*|cite this.*|trial registration.*|patient and public involvement|"
    r"about the authors?|biograph(?:y|ies)|footnotes?|notes|preface|foreword|dedication|"
    r"broader impacts?(?: statement)?|impact statement|reproducibility(?: statement)?|"
    r"关\s*键\s*[词字].*|目\s*录|作者简介|利益冲突.*|作者贡献.*|数据可用性.*|图目录|表目录)\W*",
    re.IGNORECASE,
)
_SUBTYPES: tuple[tuple[SectionSubtype, re.Pattern[str]], ...] = (
    (
        "references",
        re.compile(
            r"\W*(?:(?:list of |cited |selected |further |key |additional )?(?:references?|"
            r"bibliograph(?:y|ies)|works cited|literature cited|further reading)"
            r"(?: (?:and|&) (?:notes|further reading|bibliography)| cited| list)?|"
            r"(?:主要)?参\s*考\s*(?:文\s*献|资料|书目)|參考文獻)\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "appendix",
        re.compile(
            r"\b(?:appendix|appendices|annex(?:es|e)?|"
            r"(?:supplementary|supplemental|supporting|electronic supplementary|additional) "
            r"(?:information|materials?|data|files?|appendix|figures?|tables?|methods|text|"
            r"results)|supplements?)\b|附\s*录|附\s*件|补充材料",
            re.IGNORECASE,
        ),
    ),
    (
        "acknowledgements",
        re.compile(
            r"\backnowledge?ments?\b|\W*(?:sources? of )?(?:fundings?|financial support|support)"
            r"(?: (?:information|statement|sources?|acknowledge?ments?))?\W*$|"
            r"致\s*谢|谢\s*辞|基金项目",
            re.IGNORECASE,
        ),
    ),
)


# Set phrases that the joints below would cut.
_PHRASES = _words(
    (_C, r"\bthreats to validity\b|\bdirections for (?:future|further)\b|\blessons learned\b"),
    (_I, r"\bstatement of need\b|\bstatement of the problem\b"),
    (_M, r"\bdesign and implementation\b|\bmaterials? (?:and|&) methods?\b"),
)
_NAMED_THING = re.compile(r"([A-Z]\w*(?:-\w+)*[A-Z\d]?\w*)\s*[:：]\s")


def named_thing(document_title: str) -> str | None:
    """Return the name that a title like "Thing: how it works" announces, None without."""
    match = _NAMED_THING.match(document_title)
    return match[1] if match else None


def category_of_title(title: str) -> SectionCategory | None:
    """Return the category that a title names, None where it names none.

    Args:
        title: one line, numbering included.
    """
    bare = _NUMBER.sub("", title, count=1).strip() or title
    if _ABSTRACT.fullmatch(bare):
        return _A
    if subtype_of_title(title) is not None or _END_MATTER.fullmatch(bare):
        return _O
    if _RELATED_WORK.search(bare) and not _INTRODUCTION_FIRST.match(bare):
        return _R
    if _EXPERIMENTAL_METHOD.match(bare) and _is_experimental_method(bare):
        return _M
    phrase = next((category for category, words in _PHRASES if words.search(bare)), None)
    return _first_named(bare, _STRONG) if phrase is None else phrase


def weak_category_of_title(title: str) -> SectionCategory | None:
    """Return the category that a title hints at, for sections that no other says more of."""
    return _first_named(_NUMBER.sub("", title, count=1).strip() or title, _WEAK)


def is_summary(title: str) -> bool:
    """Tell whether a title is just "Summary": an abstract at the beginning, else a conclusion."""
    return _SUMMARY.fullmatch(_NUMBER.sub("", title, count=1)) is not None


def subtype_of_title(title: str) -> SectionSubtype | None:
    """Return what the title says of a part that is not body text, None for body text.

    Funding counts as acknowledgement, supplements as appendix. Contributions of authors, data
    availability and conflicts of interest have no subtype: people ask for them.
    """
    bare = _NUMBER.sub("", title, count=1).strip() or title
    for subtype, words in _SUBTYPES:
        if words.match(bare) if subtype == "references" else words.search(bare):
            if subtype == "references" and not words.fullmatch(bare):
                continue
            return subtype
    return None


def _is_experimental_method(title: str) -> bool:
    return _EXPERIMENTAL_METHOD.fullmatch(title) is not None or not title.lower().startswith(
        ("experimental setup", "experimental results")
    )


def _first_named(title: str, words: _Words) -> SectionCategory | None:
    """Return the category of the first part that names one, by the last word in that part."""
    for part in _JOINT.split(title):
        best, place = None, -1
        for category, pattern in words:
            for match in pattern.finditer(part):
                if match.end() > place:
                    best, place = category, match.end()
        if best is not None:
            return best
    return None


# The section tree of a document: headings become sections with a path, a category, a subtype.

# What stands in them is abstract or others' work as a whole, whatever its parts are called.
_CLOSED = (SectionCategory.ABSTRACT, SectionCategory.RELATED_WORK)
_DECIMAL = re.compile(r"(\d+(?:\.\d+)*)\b")
_NUMBERED = re.compile(r"\W*(?:\d+|[IVX]+)[.\s]")


@dataclass(frozen=True, slots=True)
class _Open:
    level: int
    title: str
    category: SectionCategory | None
    subtype: SectionSubtype | None


def make_sections(
    text: str,
    blocks: Sequence[Block],
    abstract: tuple[int, int] | None = None,
    *,
    title_of: Callable[[str], str] | None = None,
    document_title: str | None = None,
) -> tuple[Section, ...]:
    """Return the sections of a document, which partition its text.

    A heading opens a section that ends at the next heading of any level. Levels are taken as
    depths relative to the headings above: a jump from level 1 to 3 is one step down. A section
    inherits its category from the section around it where its own title says nothing; inside an
    abstract, related work, references, appendix or acknowledgements always. A subtype holds for
    all sections inside. An abstract without a heading of its own is a section without title.

    Args:
        text: the clean text.
        blocks: in order; those of kind `heading` count.
        abstract: as in `ParsedDocument.abstract`.
        document_title: a section named after the thing that the title announces ("Thing: how it
            works") describes the method.
        title_of: from a heading's source to its title; by default the source on one line.
    """
    starts: list[tuple[int, tuple[_Open, ...]]] = [(0, ())]
    open_sections: list[_Open] = []
    for block in blocks:
        if block.kind != "heading":
            continue
        title = (title_of or _title_of)(text[block.start : block.end])
        if not title:
            continue
        level = block.level or 1
        while open_sections and open_sections[-1].level >= level:
            open_sections.pop()
        outer = open_sections[-1] if open_sections else None
        own = _Open(level, title, None, subtype_of_title(title))
        if is_summary(title) and len(starts) == 1:
            category: SectionCategory | None = SectionCategory.ABSTRACT
        else:
            category = _category(own, outer, document_title)
        is_inside = outer is not None and not _is_sibling(title, outer.title)
        subtype = own.subtype or (outer.subtype if outer is not None and is_inside else None)
        open_sections.append(_Open(level, title, category, subtype))
        starts.append((block.start, tuple(open_sections)))
    if len(starts) > 1 and starts[1][0] == 0:
        del starts[0]
    sections = [
        _section(order, path, start, starts[order + 1][0] if order + 1 < len(starts) else len(text))
        for order, (start, path) in enumerate(starts)
    ]
    return _with_abstract(sections, abstract)


def _category(
    own: _Open, outer: _Open | None, document_title: str | None
) -> SectionCategory | None:
    """Return the category of a section inside `outer`, None where nothing says one."""
    named = category_of_title(own.title)
    if outer is None or own.subtype is not None or _is_sibling(own.title, outer.title):
        inherited = None
    else:
        inherited = outer.category
        is_closed = outer.subtype is not None or inherited in _CLOSED
        # A numbered section below the abstract is there by a wrong level.
        is_misplaced = (
            inherited is SectionCategory.ABSTRACT and _NUMBERED.match(own.title) is not None
        )
        if is_closed and not is_misplaced:
            return inherited
        if is_misplaced:
            inherited = None
    if named is not None:
        return named
    if inherited is not None:
        return inherited
    thing = named_thing(document_title or "")
    if thing is not None and re.search(rf"\b{re.escape(thing)}\b", own.title, re.IGNORECASE):
        return SectionCategory.METHOD
    return weak_category_of_title(own.title)


def _is_sibling(title: str, outer_title: str) -> bool:
    """Tell whether numbers contradict the levels: "3 Methods" is no part of "2 Related work"."""
    own, outer = _DECIMAL.match(title), _DECIMAL.match(outer_title)
    return own is not None and outer is not None and not own[1].startswith(f"{outer[1]}.")


def _section(order: int, path: Sequence[_Open], start: int, end: int) -> Section:
    if not path:
        return Section(order, "", 0, (), SectionCategory.OTHER, start, end)
    own = path[-1]
    category = SectionCategory.OTHER if own.category is None else own.category
    titles = tuple(section.title for section in path)
    return Section(order, own.title, len(path) - 1, titles, category, start, end, own.subtype)


def _with_abstract(
    sections: Sequence[Section], abstract: tuple[int, int] | None
) -> tuple[Section, ...]:
    """Cut an abstract that has no heading of its own out of the section that it stands in."""
    if abstract is None:
        return tuple(sections)
    start, end = abstract
    around = next((item for item in sections if item.start <= start and end <= item.end), None)
    if around is None or around.category is SectionCategory.ABSTRACT:
        return tuple(sections)
    pieces = [
        replace(around, end=start),
        Section(0, "", 0, (), SectionCategory.ABSTRACT, start, end),
        replace(around, start=end),
    ]
    place = around.order
    ordered = [
        *sections[:place],
        *(piece for piece in pieces if piece.start < piece.end),
        *sections[place + 1 :],
    ]
    return tuple(replace(section, order=order) for order, section in enumerate(ordered))


def _title_of(source: str) -> str:
    """Return a heading's text on one line."""
    return " ".join(source.split())
