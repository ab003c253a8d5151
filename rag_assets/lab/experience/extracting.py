"""What one feedback teaches: lessons of success from `pros`, of failure from `cons`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.chunking import split_sentences
from rag_assets.lab.experience.items import Kind, Lesson, Role
from rag_assets.lab.experience.measured import unmeasured
from rag_assets.lab.store import Run, new_id
from rag_assets.llm import ChatModel, ChatRequest, Message, complete_as, load_prompt

_PROMPTS: dict[Kind, str] = {"success": "lab_extract_success", "failure": "lab_extract_failure"}
_TITLE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Teaching:
    """What lessons are made from.

    Args:
        run: with its recipes; `recipe_index` (from 1) was made, `as_made` says how otherwise.
        measured: value and fraction by the names of products.
        comparison: the report's figures, as values.
        pros, cons, other: the experimenter's text.
    """

    run: Run
    recipe_index: int
    as_made: str
    score: float
    measured: Sequence[Mapping[str, Any]]
    comparison: Mapping[str, Any]
    pros: str
    cons: str
    other: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """The lessons of one extraction, and what they came from.

    Args:
        record: model, prompts, what was asked, and lessons that were refused with the reason, for
            the store.
    """

    lessons: tuple[Lesson, ...]
    record: Mapping[str, Any] = field(default_factory=dict)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AnsweredLesson(_Answer):
    """One lesson as a model writes it."""

    role: Literal["global", "orchestrator", "mof_expert", "tio2_expert"]
    title: Annotated[str, Field(max_length=200)]
    description: Annotated[str, Field(max_length=500)]
    content: Annotated[str, Field(min_length=1, max_length=2000)]


class Answered(_Answer):
    """What a model answers to an extraction."""

    lessons: list[AnsweredLesson]


def extract_lessons(
    teaching: Teaching, extraction_id: str, model: ChatModel | None, limit: int
) -> Extracted:
    """Return what a feedback teaches; a lesson with other numbers than it has is refused.

    Args:
        extraction_id: names the lessons' origin.
        model: None for the experimenter's own sentences, which nobody generalises.
        limit: lessons of each text at most, where a model writes them.

    Raises:
        AnswerError: the model answered what cannot be used.
        LanguageModelError: it cannot be asked.
    """
    texts: dict[Kind, str] = {"success": teaching.pros, "failure": teaching.cons}
    given = {kind: text for kind, text in texts.items() if text.strip()}
    if model is None:
        lessons = [
            lesson
            for kind, text in given.items()
            for lesson in _own_sentences(teaching, extraction_id, kind, text)
        ]
        return Extracted(tuple(lessons), {"model": None, "prompts": {}})
    asked = _describe(teaching)
    # Grounds and the request are no measurements.
    feedback: list[Any] = [
        teaching.score, _made(teaching), teaching.as_made, teaching.pros, teaching.cons,
        teaching.other,
    ]  # fmt: skip
    lessons = []
    prompts = {}
    refused: list[str] = []
    for kind in given:
        prompt = load_prompt(_PROMPTS[kind])
        prompts[kind] = prompt.hash
        said = {key: value for key, value in asked.items() if key != _NOT_ASKED[kind]}
        request = ChatRequest(
            (
                Message("system", prompt.text.replace("{limit}", str(limit))),
                Message("user", json.dumps(said, ensure_ascii=False, indent=1)),
            ),
            task=prompt.name,
            prompt_hash=prompt.hash,
        )
        answer = complete_as(model, request, Answered)
        for each in answer.lessons[:limit]:
            written = " ".join((each.title, each.description, each.content))
            if wrong := unmeasured(written, teaching.measured, feedback, teaching.comparison):
                refused.append(
                    f"{each.title.strip()}: it says {wrong}, which is nothing that the feedback "
                    f"measured or says: “{each.content.strip()}”"
                )
                continue
            lessons.append(
                _lesson(teaching, extraction_id, kind, each.role, each.title, each.description,
                        each.content)
            )  # fmt: skip
    record = {"model": model.describe(), "prompts": prompts, "asked": asked}
    return Extracted(tuple(lessons), {**record, **({"refused": refused} if refused else {})})


# Success is not asked for in what went wrong, nor the other way round; `other` adds to both.
_NOT_ASKED: dict[Kind, str] = {"success": "cons", "failure": "pros"}


def _own_sentences(teaching: Teaching, extraction_id: str, kind: Kind, text: str) -> list[Lesson]:
    sentences = [text[start:end].strip() for start, end in split_sentences(text)]
    return [
        _lesson(teaching, extraction_id, kind, "global", _shortened(one), "", one)
        for one in dict.fromkeys(sentences)
        if one
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= _TITLE_CHARACTERS else f"{text[:_TITLE_CHARACTERS].rstrip()}…"


def _lesson(
    teaching: Teaching,
    extraction_id: str,
    kind: Kind,
    role: Role,
    title: str,
    description: str,
    content: str,
) -> Lesson:
    extra = {
        "recipe": _made(teaching),
        "as_made": teaching.as_made,
        "score": teaching.score,
        "other": teaching.other.strip(),
    }
    return Lesson(
        id=new_id(), extraction_id=extraction_id, run_id=teaching.run.id, role=role, kind=kind,
        title=title.strip(), description=description.strip(), content=content.strip(),
        extra={key: value for key, value in extra.items() if value != ""},
    )  # fmt: skip


def _made(teaching: Teaching) -> dict[str, Any]:
    return teaching.run.recipes[teaching.recipe_index - 1].model_dump(
        mode="json", include={"M1", "M2", "atomic_ratio", "small_molecule_modifier"},
        exclude_none=True,
    )  # fmt: skip


def _describe(teaching: Teaching) -> dict[str, Any]:
    return {
        "run": teaching.run.id,
        "request": teaching.run.request,
        "recipes": [one.model_dump(mode="json", exclude_none=True) for one in teaching.run.recipes],
        "made": {"recipe": teaching.recipe_index, "as_made": teaching.as_made},
        "score": teaching.score,
        "measured": [dict(one) for one in teaching.measured],
        "comparison": dict(teaching.comparison),
        "pros": teaching.pros,
        "cons": teaching.cons,
        "other": teaching.other,
    }
