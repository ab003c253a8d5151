"""Passages of a section that the question asks for gain; nothing else changes."""

from rag_assets.model import SectionCategory
from rag_assets.retrieval.explaining import explain_hit
from rag_assets.retrieval.section_hints import favour_sections, hinted_sections

from .made_up_readers import hit

_INTRODUCTION, _EVALUATION = int(SectionCategory.INTRODUCTION), int(SectionCategory.EVALUATION)
_QUESTION = "What accuracy do they report?"
_PATH = ("Owls", "A section")


def test_a_question_about_results_is_looked_for_where_results_stand() -> None:
    for question in (_QUESTION, "准确率是多少?"):
        sections = hinted_sections(question)
        assert sections is not None
        assert SectionCategory.EVALUATION in sections
        assert SectionCategory.INTRODUCTION not in sections
    assert hinted_sections("猫头鹰吃什么?") is None


def test_a_hinted_section_gains_a_share_of_the_distance() -> None:
    hits = [
        hit("a:1", score=0.9, section_category=_INTRODUCTION, section_path=_PATH),
        hit("b:1", score=0.8, section_category=_EVALUATION, section_path=_PATH),
        hit("c:1", score=0.1, section_category=_EVALUATION, section_path=_PATH),
    ]
    found = favour_sections(hits, _QUESTION, 0.25)
    assert [one.doc_uid for one in found] == ["b", "a", "c"]
    # (0.7 + 0.2) / 1.25, 0.8 / 1.25 and 0.2 / 1.25 above the lowest: the range stays.
    assert [round(one.score, 6) for one in found] == [0.82, 0.74, 0.26]
    assert "its section is one that the question asks for: +0.0200" in explain_hit(found[0])
    assert "its section is none that the question asks for: -0.1600" in explain_hit(found[1])


def test_what_is_said_far_better_elsewhere_stays_first() -> None:
    hits = [
        hit("a:1", score=0.9, section_category=_INTRODUCTION, section_path=_PATH),
        hit("b:1", score=0.2, section_category=_EVALUATION, section_path=_PATH),
    ]
    assert [one.doc_uid for one in favour_sections(hits, _QUESTION, 0.25)] == ["a", "b"]


def test_a_passage_of_no_known_section_loses_nothing() -> None:
    """Notes and statutes have no methods; a document's title is no section of it."""
    hits = [
        hit("note:1", score=0.9, section_category=int(SectionCategory.OTHER), section_path=_PATH),
        hit("law:1", score=0.85, section_category=None, section_path=_PATH),
        hit("title:1", score=0.82, section_category=_INTRODUCTION, section_path=("Intro to owls",),
            doc_title="Intro to owls"),
        hit("b:1", score=0.8, section_category=_EVALUATION, section_path=_PATH),
        hit("a:1", score=0.1, section_category=_INTRODUCTION, section_path=_PATH),
    ]  # fmt: skip
    found = favour_sections(hits, _QUESTION, 0.25)
    assert [one.doc_uid for one in found] == ["note", "law", "title", "b", "a"]
    assert (found[0].score, found[-1].score) == (0.9, 0.1)


def test_without_a_hint_or_a_gain_nothing_changes() -> None:
    hits = [
        hit("a:1", score=0.9, section_category=_INTRODUCTION, section_path=_PATH),
        hit("b:1", score=0.89, section_category=_EVALUATION, section_path=_PATH),
    ]
    assert favour_sections(hits, _QUESTION, 0.0) == hits
    assert favour_sections(hits, "Owls?", 0.25) == hits
    assert favour_sections(hits[1:], _QUESTION, 0.25) == hits[1:]
