"""Questions: files in `queries/`, or typed and saved there."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from rapidfuzz import process

from rag_assets.model import (
    ConfigurationError,
    UsageError,
    drop_controls,
    first_fault,
    hash_bytes,
    require_question,
    shown_value,
)
from rag_assets.storage import write_text
from rag_assets.workspace import Workspace
from rag_assets.workspace.bounded_yaml import parse_yaml, read_bounded

Wanted = Literal["evidence", "papers", "answer"]
SUFFIXES = (".yaml", ".yml", ".md", ".txt")
_MAX_SLUG = 48
# What a slug, and so a partition key, is made of; Dagster refuses "..." and control characters.
_UNWANTED = re.compile(r"[\W_]+")
_Text = Annotated[str, AfterValidator(drop_controls)]
_OF_PACKS = ("top_k", "as_of", "all_versions")
_OF_ANSWERS = ("doc", "policy", "agentic", "max_iterations")


def _read_day(value: object) -> object:
    """Return a day that is written as text; YAML reads it only where it has no quotation marks."""
    return date.fromisoformat(value) if isinstance(value, str) else value


class Question(BaseModel):
    """What is asked, of which namespaces, for how many items, confined to what, shown how.

    Args:
        mode: `evidence` lists passages, `papers` groups them by document, `answer` answers with
            sentences, each of them checked.
        filters: conditions as the command line writes them: `year>=2020`.
        as_of: the day on which laws have to hold; None for that of asking.
        all_versions: of laws also the wordings in whose place another is in force.
        doc: of an answer the one paper that is meant, by its uid; None to find it.
        policy: of an answer who searches and writes; None for `answer.policy`.
        agentic: False for an answer from one search.
        max_iterations: of an answer how many actions lead to it at most; None for
            `answer.max_iterations`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    question: _Text
    namespaces: tuple[str, ...] = ()
    top_k: Annotated[int, Field(ge=1, le=1000)] | None = None
    filters: tuple[_Text, ...] = ()
    mode: Wanted = "evidence"
    as_of: Annotated[date | None, BeforeValidator(_read_day)] = None
    all_versions: bool = False
    doc: _Text | None = None
    policy: Literal["auto", "rules", "model"] | None = None
    agentic: bool = True
    max_iterations: Annotated[int, Field(ge=2)] | None = None


@dataclass(frozen=True, slots=True)
class SavedQuestion:
    """A question with the file that holds it and the partition key made from its content."""

    question: Question
    path: Path
    key: str


def read_question(path: Path) -> SavedQuestion:
    """Return the question of a file: YAML with `question:`, or plain text.

    Raises:
        UsageError: no text to ask, an unknown key or a wrong value; names the file.
        ConfigurationError: not a file, unreadable, too large, or not YAML; names file and line.
        FileNotFoundError: it was removed.
    """
    data = read_bounded(path)
    if path.suffix in {".yaml", ".yml"}:
        question = _from_yaml(path, data)
    else:
        try:
            question = Question(question=data.decode("utf-8-sig").strip())
        except UnicodeDecodeError as error:
            raise UsageError(f"{path}: not UTF-8 text. Save the file as UTF-8.") from error
    return SavedQuestion(_checked(question, path), path, partition_key(path.stem, data))


def save_question(workspace: Workspace, question: Question) -> SavedQuestion:
    """Save a typed question in `queries/`; the same question is the same file.

    Raises:
        UsageError: there is no text to ask.
    """
    _checked(question, None)
    values: dict[str, Any] = {"question": question.question}
    if question.namespaces:
        values["namespaces"] = list(question.namespaces)
    if question.top_k is not None:
        values["top_k"] = question.top_k
    if question.filters:
        values["filters"] = list(question.filters)
    if question.mode != "evidence":
        values["mode"] = question.mode
    if question.as_of is not None:
        values["as_of"] = question.as_of
    for name in _told(question, ("all_versions", *_OF_ANSWERS)):
        values[name] = getattr(question, name)
    text = yaml.safe_dump(values, allow_unicode=True, sort_keys=False, width=100)
    key = partition_key(question.question, text.encode("utf-8"))
    path = workspace.queries / f"{key}.yaml"
    if not path.exists():
        write_text(path, text)
    return SavedQuestion(question, path, partition_key(path.stem, text.encode("utf-8")))


def partition_key(name: str, data: bytes) -> str:
    """Return `<slug>-<hash12>`: readable, and of the content alone."""
    digest = hash_bytes(data)[:12]
    stem = name.removesuffix(f"-{digest}")
    slug = _UNWANTED.sub("-", unicodedata.normalize("NFKC", stem).lower()).strip("-")
    return f"{slug[:_MAX_SLUG].strip('-') or 'question'}-{digest}"


def list_questions(workspace: Workspace) -> list[Path]:
    """Return the question files of a workspace, sorted."""
    if not workspace.queries.is_dir():
        return []
    return sorted(
        path
        for path in workspace.queries.iterdir()
        if path.is_file() and path.suffix in SUFFIXES and not path.name.startswith(".")
    )


def readable_questions(
    workspace: Workspace, warn: Callable[[str], None] = lambda sentence: None
) -> Iterator[SavedQuestion]:
    """Yield the questions of `queries/` that can be read; one that cannot harms no other.

    Args:
        warn: is told what is wrong with it.
    """
    for path in list_questions(workspace):
        try:
            yield read_question(path)
        except (UsageError, ConfigurationError) as error:
            warn(f"passed over: {error}")
        except FileNotFoundError:
            continue  # removed since it was listed


def _from_yaml(path: Path, data: bytes) -> Question:
    values = parse_yaml(data, str(path))
    if not isinstance(values, dict) or "question" not in values:
        raise UsageError(
            f'{path}: write `question: "…"`; namespaces, filters, mode, top_k, as_of and '
            "all_versions are optional, and with `mode: answer` doc, policy, "
            "agentic and max_iterations."
        )
    for key in values:
        if key not in Question.model_fields:
            nearest = process.extractOne(str(key), list(Question.model_fields), score_cutoff=50)
            hint = f" Did you mean '{nearest[0]}'?" if nearest else ""
            raise UsageError(f"{path}: unknown key {shown_value(key)}.{hint}")
    for name in ("namespaces", "filters"):
        if isinstance(values.get(name), list):
            values[name] = tuple(values[name])
    try:
        return Question.model_validate(values)
    except ValidationError as error:
        key, said, value = first_fault(error)
        raise UsageError(f"{path}: '{key}': {said.lower()}, got {shown_value(value)}.") from error


def _checked(question: Question, path: Path | None) -> Question:
    where = f"{path}: " if path else ""
    try:
        require_question(question.question)
    except UsageError as error:
        raise UsageError(f"{where}{error}") from None
    others = _OF_PACKS if question.mode == "answer" else _OF_ANSWERS
    wrong = _told(question, others)
    if wrong:
        raise UsageError(f"{where}'{wrong[0]}' says nothing with mode '{question.mode}'.")
    return question


def _told(question: Question, names: Sequence[str]) -> list[str]:
    """Return those of some fields that have not their default."""
    fields = Question.model_fields
    return [name for name in names if getattr(question, name) != fields[name].default]
