"""Which sections a question's words ask for."""

from rag_assets.model import SectionCategory
from rag_assets.retrieval.section_hints import hinted_sections


def test_a_question_about_results_is_looked_for_where_results_stand() -> None:
    for question in ("What accuracy do they report?", "准确率是多少?"):
        sections = hinted_sections(question)
        assert sections is not None
        assert SectionCategory.EVALUATION in sections
        assert SectionCategory.INTRODUCTION not in sections
    assert hinted_sections("猫头鹰吃什么?") is None
