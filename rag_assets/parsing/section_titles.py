"""What a section is about, as its title says it, in English and Chinese."""

import re

from rag_assets.model import SectionCategory, SectionSubtype

# Spec 002 §2.1, first match wins; the narrower words stand before the wider.
_CATEGORIES: tuple[tuple[SectionCategory, re.Pattern[str]], ...] = (
    (SectionCategory.ABSTRACT, re.compile(r"\babstract\b|摘\s*要", re.IGNORECASE)),
    (SectionCategory.RELATED_WORK, re.compile(r"\brelated works?\b|相关工作", re.IGNORECASE)),
    (
        SectionCategory.INTRODUCTION,
        re.compile(r"\b(introduction|background|motivation)\b|引\s*言|绪\s*论|背景", re.IGNORECASE),
    ),
    (
        SectionCategory.EVALUATION,
        re.compile(
            r"\b(experiment\w*|results?|evaluation|ablation|comparison)\b|实验|结果|评估",
            re.IGNORECASE,
        ),
    ),
    (
        SectionCategory.CONCLUSION,
        re.compile(r"\b(conclusions?|discussion|summary)\b|结\s*论|总结|讨论", re.IGNORECASE),
    ),
    (
        SectionCategory.METHOD,
        re.compile(
            r"\b(methods?|approach|model|architecture|framework)\b|方法|模型", re.IGNORECASE
        ),
    ),
)
_SUBTYPES: tuple[tuple[SectionSubtype, re.Pattern[str]], ...] = (
    ("references", re.compile(r"\b(references|bibliography)\b|参考文献", re.IGNORECASE)),
    ("appendix", re.compile(r"\b(appendix|appendices)\b|附录", re.IGNORECASE)),
    ("acknowledgements", re.compile(r"\backnowledge?ments?\b|致谢", re.IGNORECASE)),
)


def category_of_title(title: str) -> SectionCategory | None:
    """Return the category that a title names, None where it names none."""
    return next((category for category, words in _CATEGORIES if words.search(title)), None)


def subtype_of_title(title: str) -> SectionSubtype | None:
    """Return what the title says of a part that is not body text, None for body text."""
    return next((subtype for subtype, words in _SUBTYPES if words.search(title)), None)
