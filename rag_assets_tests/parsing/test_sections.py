"""The section tree: categories by title, inheritance, subtypes; the language of a text."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.model import Block, Section, SectionCategory, SectionSubtype
from rag_assets.parsing import make_sections
from rag_assets.parsing.cleaning import guess_language
from rag_assets.parsing.sections import category_of_title, subtype_of_title

CATEGORIES = {
    "Abstract": 0,
    "摘 要": 0,
    "Plain language summary": 0,
    "1 Introduction": 1,
    "Introduction and related work": 1,
    "一、问题重述": 1,
    "2. Materials and methods": 2,
    "Experimental section": 2,
    "Experimental methods": 2,
    "四、模型的建立与求解": 2,
    "4 Experiments": 3,
    "Experimental setup": 3,
    "Results and discussion": 3,
    "Model evaluation": 3,
    "5 实验结果与分析": 3,
    "模型评价": 3,
    "Discussion of results": 4,
    "Conclusions and outlook": 4,
    "Threats to validity": 4,
    "结论": 4,
    "References": 5,
    "Data availability": 5,
    "Author contributions": 5,
    "Appendix A: Experimental details": 5,
    "Background and related work": 6,
    "2 Literature review": 6,
    "相关工作": 6,
}
SUBTYPES: dict[str, SectionSubtype | None] = {
    "References": "references",
    "7. 参考文献": "references",
    "Reference frames": None,
    "附录A": "appendix",
    "Supplementary Material": "appendix",
    "Acknowledgements and funding": "acknowledgements",
    "Funding": "acknowledgements",
    "Support vector machines": None,
    "Author contributions": None,
}


def sections_of(*headings: tuple[int, str], title: str | None = None) -> tuple[Section, ...]:
    text, blocks = "", []
    for level, heading in headings:
        blocks.append(Block("heading", len(text), len(text) + len(heading), level=level))
        text += f"{heading}\n\n"
        blocks.append(Block("paragraph", len(text), len(text) + 6))
        text += "Prose.\n\n"
    return make_sections(text, blocks, document_title=title)


@pytest.mark.parametrize(("title", "number"), CATEGORIES.items())
def test_title_names_its_category(title: str, number: int) -> None:
    assert category_of_title(title) == SectionCategory(number)


@pytest.mark.parametrize("title", ["Abstract interpretation", "Earthworms", "3 Datasets"])
def test_title_without_a_telling_word_names_none(title: str) -> None:
    assert category_of_title(title) is None


@pytest.mark.parametrize(("title", "subtype"), SUBTYPES.items())
def test_subtype_of_end_matter(title: str, subtype: SectionSubtype | None) -> None:
    assert subtype_of_title(title) == subtype


def test_child_inherits_where_its_own_title_says_nothing() -> None:
    _, child, other = sections_of((1, "2 Methods"), (2, "2.3 Optimiser"), (1, "3 Earthworms"))
    assert child.category is SectionCategory.METHOD
    assert other.category is SectionCategory.OTHER


def test_weak_word_counts_only_where_no_section_around_says_more() -> None:
    inside, alone = sections_of((1, "Experiments"), (2, "Datasets"), (1, "Datasets"))[1:]
    assert inside.category is SectionCategory.EVALUATION
    assert alone.category is SectionCategory.METHOD


def test_everything_inside_related_work_and_appendix_stays_there() -> None:
    _, child, _, proof = sections_of(
        (1, "Related work"), (2, "Neural models"), (1, "Appendix"), (2, "Experiments in detail")
    )
    assert child.category is SectionCategory.RELATED_WORK
    assert (proof.category, proof.subtype) == (SectionCategory.OTHER, "appendix")


def test_number_that_contradicts_the_level_ends_inheritance() -> None:
    _, methods = sections_of((1, "2 Related work"), (2, "3 Methods"))
    assert methods.category is SectionCategory.METHOD


def test_summary_is_an_abstract_first_and_a_conclusion_last() -> None:
    sections = sections_of((1, "Summary"), (1, "Worms"), (1, "Summary"))
    assert sections[0].category is SectionCategory.ABSTRACT
    assert sections[-1].category is SectionCategory.CONCLUSION


def test_section_named_after_the_thing_in_the_title_is_its_method() -> None:
    (section,) = sections_of((1, "Inside Wormbase"), title="Wormbase: counting made simple")
    assert section.category is SectionCategory.METHOD


def test_abstract_without_heading_is_cut_out_of_the_section_around() -> None:
    text = "Contents\n\nSome lines.\n\nThe abstract.\n\nMore."
    start = text.index("The abstract.")
    sections = make_sections(text, [Block("heading", 0, 8, level=1)], (start, start + 13))
    assert [section.category for section in sections] == [
        SectionCategory.OTHER,
        SectionCategory.ABSTRACT,
        SectionCategory.OTHER,
    ]
    assert [section.order for section in sections] == [0, 1, 2]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 6), st.sampled_from([*CATEGORIES, *SUBTYPES, "Worms"])),
        max_size=12,
    ),
    st.data(),
)
def test_sections_partition_the_text(headings: list[tuple[int, str]], data: st.DataObject) -> None:
    text, blocks = "Lead.\n\n", []
    for level, heading in headings:
        blocks.append(Block("heading", len(text), len(text) + len(heading), level=level))
        text += f"{heading}\n\nProse of it.\n\n"
    start = data.draw(st.integers(0, len(text)))
    abstract = (start, data.draw(st.integers(start, len(text))))
    sections = make_sections(text, blocks, data.draw(st.sampled_from([None, abstract])))
    assert sections[0].start == 0
    assert sections[-1].end == len(text)
    assert all(before.end == after.start for before, after in pairwise(sections))
    assert [section.order for section in sections] == list(range(len(sections)))


LANGUAGES = {
    "en": "The worms that were counted in these fields are not as many as we had expected, "
    "and they have been found only in the upper layer of the soil.",
    "fr": "Les vers que nous avons comptés dans ces champs ne sont pas aussi nombreux que "
    "prévu et ils vivent dans la couche supérieure du sol, sous les cultures de blé.",
    "de": "Die Würmer, die wir auf den Feldern gezählt haben, sind nicht so zahlreich wie "
    "erwartet und leben nur in der oberen Schicht des Bodens unter dem Weizen.",
    "pt": "As minhocas que foram contadas nos campos não são tão numerosas como se esperava "
    "e vivem apenas na camada superior do solo, com mais frequência em campos de trigo.",
    "ru": "Черви, которых мы сосчитали на этих полях, живут только в верхнем слое почвы.",
    "zh": "本文连续三年统计了十二块麦田中的蚯蚓数量。",
    None: "12 34 56",
}


@pytest.mark.parametrize(("language", "text"), LANGUAGES.items())
def test_language_is_told_by_script_and_common_words(language: str | None, text: str) -> None:
    assert guess_language(text) == language
