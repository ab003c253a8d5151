"""Feedback and all that follows from it: report, rollback, learning, in one transaction.

`pros` teaches lessons of success, `cons` of failure. A lesson that a model writes says no other
numbers than the feedback has.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.chunking import split_sentences
from rag_assets.judging import read_quantities
from rag_assets.lab.differences import PRODUCTS, named_substances, without_formulas
from rag_assets.lab.experience import (
    Delta,
    Kind,
    Lesson,
    Role,
    contents,
    delta_of,
    living_extraction,
    place_lesson,
    take_back,
    write_extraction,
)
from rag_assets.lab.feedback import (
    Comparison,
    Entry,
    Feedback,
    FeedbackForm,
    Measured,
    Report,
    Strategy,
    check_form,
    delete_feedback,
    find_feedback,
    find_report,
    is_unchanged,
    list_feedback,
    make_comparison,
    outdated_parts,
    require_feedback,
    strategy_now,
    write_feedback,
    write_report,
)
from rag_assets.lab.laboratory import Laboratory
from rag_assets.lab.products import Preset, Product, list_presets, list_products, product_names
from rag_assets.lab.runs import Recipe, Run, read_run
from rag_assets.lab.store import Writing, new_id
from rag_assets.llm import ChatModel, ChatRequest, Message, complete_as, load_prompt
from rag_assets.model import AnswerError, Cell, LanguageModelError, LockedError, write_csv

# How often the texts are looked at again where others have written new ones meanwhile.
_TRIES = 8


_PROMPTS: dict[Kind, str] = {"success": "lab_extract_success", "failure": "lab_extract_failure"}
_TITLE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Teaching:
    """What lessons are made from.

    Args:
        run: with its recipes; `form` says which one was made, and what the experimenter says.
        measured: value and fraction by the names of products.
        comparison: the report's figures, by the names of products.
    """

    run: Run
    form: FeedbackForm
    measured: Sequence[Mapping[str, Any]]
    comparison: Mapping[str, Any]

    @property
    def made(self) -> dict[str, Any]:
        """The recipe that was made, without its grounds."""
        return self.run.recipes[self.form.recipe_index - 1].model_dump(
            mode="json", include={"M1", "M2", "atomic_ratio", "small_molecule_modifier"},
            exclude_none=True,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Extracted:
    """The lessons of one extraction, and what they came from.

    Args:
        record: model, prompts, what was asked, and lessons that were refused with the reason, for
            the store.
    """

    lessons: tuple[Lesson, ...]
    record: Mapping[str, Any] = field(default_factory=dict)


class AnsweredLesson(BaseModel):
    """One lesson as a model writes it."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["global", "orchestrator", "mof_expert", "tio2_expert"]
    title: Annotated[str, Field(max_length=200)]
    description: Annotated[str, Field(max_length=500)]
    content: Annotated[str, Field(min_length=1, max_length=2000)]


class Answered(BaseModel):
    """What a model answers to an extraction."""

    model_config = ConfigDict(extra="forbid")

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
    form = teaching.form
    texts: dict[Kind, str] = {"success": form.pros, "failure": form.cons}
    given = {kind: text for kind, text in texts.items() if text.strip()}
    further = {
        "recipe": teaching.made, "as_made": form.as_made, "score": float(form.score),
        "other": form.other.strip(),
    }  # fmt: skip
    extra = {key: value for key, value in further.items() if value != ""}
    lessons: list[Lesson] = []

    # Grounds and the request are no measurements.
    words = [form.as_made, form.pros, form.cons, form.other]
    facts = facts_of(form.score, teaching.measured, teaching.comparison, teaching.made, words)

    def add(kind: Kind, role: Role, title: str, description: str, content: str) -> str:
        """Add a lesson; return the number for which it is refused instead, else nothing."""
        texts = title.strip(), description.strip(), content.strip()
        wrong, measured, said = find_basis(" ".join(texts), facts)
        if wrong and model is not None:
            return wrong
        rests_on = {"measured": measured, "said": said, "by": "model" if model else "chemist"}
        of = {**extra, "rests_on": rests_on}
        lessons.append(Lesson(new_id(), extraction_id, teaching.run.id, role, kind, *texts, of))
        return ""

    if model is None:
        for kind, text in given.items():
            spans = split_sentences(text)
            for one in dict.fromkeys(text[start:end].strip() for start, end in spans):
                is_long = len(one) > _TITLE_CHARACTERS
                title = f"{one[:_TITLE_CHARACTERS].rstrip()}…" if is_long else one
                if one:
                    add(kind, "global", title, "", one)
        return Extracted(tuple(lessons), {"model": None, "prompts": {}})
    run = teaching.run
    asked = {
        "run": run.id, "request": run.request,
        "recipes": [one.model_dump(mode="json", exclude_none=True) for one in run.recipes],
        "made": {"recipe": form.recipe_index, "as_made": form.as_made},
        "score": float(form.score), "measured": [dict(one) for one in teaching.measured],
        "comparison": dict(teaching.comparison), "pros": form.pros, "cons": form.cons,
        "other": form.other,
    }  # fmt: skip
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
        refused += [
            f"{each.title.strip()}: it says {wrong}, which is nothing that the feedback measured "
            f"or says: “{each.content.strip()}”"
            for each in answer.lessons[:limit]
            if (wrong := add(kind, each.role, each.title, each.description, each.content))
        ]
    record = {"model": model.describe(), "prompts": prompts, "asked": asked}
    return Extracted(tuple(lessons), {**record, **({"refused": refused} if refused else {})})


# Success is not asked for in what went wrong, nor the other way round; `other` adds to both.
_NOT_ASKED: dict[Kind, str] = {"success": "cons", "failure": "pros"}


# Within a sentence each of these parts says of its own product what was measured.
_PARTS = re.compile(r"[,;，；、](?!\d)|\b(?:and|but|while|whereas|versus|vs)\b|[和而但与]")
_LOCANT = re.compile(r"\d[\d,']*-(?=[A-Za-z])")
_OF_OTHERS = re.compile(
    r"\b(?:mean|average|maximum|best|others?|history|than|above|below|literature)\b|平均|最|其他|文献|[高低]于",
    re.IGNORECASE,
)
_DECIMALS = re.compile(r"\d+\.(\d+)")


class Fact(NamedTuple):
    """A number that the feedback has.

    Args:
        label: of a measurement, as a reader sees it (`C2H4 75 %`); empty of a number of the
            recipe, None of one of the experimenter's words.
        of: the products that it is about; of none, it is about any.
        is_of_others: whether the comparison has it, with other runs.
    """

    label: str | None
    of: frozenset[str]
    value: float
    unit: str
    is_of_others: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """All numbers of a feedback, and the products that it measured."""

    products: tuple[str, ...]
    numbers: tuple[Fact, ...]


def facts_of(
    score: float, measured: Sequence[Mapping[str, Any]], comparison: Mapping[str, Any],
    made: Mapping[str, Any], words: Sequence[str],
) -> Facts:  # fmt: skip
    """Return the numbers that a feedback has, those that were measured first.

    Args:
        measured: product, value and fraction of each.
        comparison: with other runs.
        made: the recipe that was made; `words` what the experimenter says.
    """
    products = tuple(str(one["product"]) for one in measured)
    known: list[tuple[str | None, str, bool]] = [
        (fact, fact, False) for fact in (*_facts(list(measured)), *_facts(score, "score"))
    ]
    known += [
        (f"{key.replace('_', ' ')}: {fact.strip()}", fact, True)
        for key, each in comparison.items()
        for fact in _facts(each)
    ]
    known += [("", fact, False) for fact in _facts(made)]
    known += [(None, fact, False) for fact in _facts(words)]
    return Facts(products, tuple(
        Fact(label, _products_in(fact, products), value, unit, is_of_others)
        for label, fact, is_of_others in known
        for _, value, unit in _numbers(fact)
    ))  # fmt: skip


def find_basis(said: str, facts: Facts) -> tuple[str, list[str], list[str]]:
    """Return what the numbers of a lesson rest on.

    Returns:
        The first number that the feedback does not have, empty for none; the measurements that the
        others are, as a reader sees them; the numbers that only the experimenter's words have.
    """
    wrong, measured, words = "", dict[str, None](), dict[str, None]()
    for start, end in split_sentences(said):
        for part in _PARTS.split(said[start:end]):
            named = _products_in(part, facts.products)
            speaks_of_others = _OF_OTHERS.search(part) is not None
            for text, value, unit in _numbers(part):
                decimals = _DECIMALS.search(text)
                tolerance = 0.5 * 10 ** -len(decimals[1] if decimals else "")
                known = (
                    fact
                    for fact in facts.numbers
                    if (speaks_of_others or not fact.is_of_others)
                    and (not fact.of or not named or fact.of & named)
                    and (fact.unit == "share") == (unit == "share")
                    and abs(value - fact.value) <= tolerance
                )
                # The 1 of “2:1” is the recipe's, though 1.2 was measured, and “4 h” no yield of 4.
                found = min(
                    known, key=lambda f: (f.unit != unit, abs(value - f.value)), default=None
                )
                if found is None:
                    wrong = wrong or text
                elif found.label is None:
                    words[text] = None
                elif found.label:
                    measured[found.label] = None
    return wrong, list(measured), list(words)


def _numbers(text: str) -> list[tuple[str, float, str]]:
    """Return each number as it stands, its value, and the kind of its unit (`share`: percent)."""
    plain = without_formulas(_LOCANT.sub(" ", text))
    return [
        (one.text, one.raw, one.unit.kind)
        for one in read_quantities(plain)
        if any(map(str.isdigit, one.text))
    ]


def _products_in(text: str, products: Sequence[str]) -> frozenset[str]:
    """Return the products that a text names, those too of which nothing was measured."""
    substances, lower = named_substances(text), text.casefold()
    measured = {
        product
        for product in products
        if named_substances(product) & substances
        or re.search(rf"(?<!\w){re.escape(product.casefold())}(?!\w)", lower)
    }
    return frozenset(measured | (substances & PRODUCTS))


def _facts(value: Any, product: str = "") -> Iterator[str]:
    """Yield what is known as sentences; of a product's figures each with its name."""
    if isinstance(value, Mapping):
        own = str(value.get("product", product))
        for key, each in value.items():
            if key == "fraction" and isinstance(each, (int, float)):
                yield f"{own} {100 * each:.10g} %"
            yield from _facts(each, own)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _facts(each, product)
    elif isinstance(value, (int, float)):
        yield f"{product} {value:.10g}"
    elif isinstance(value, str):
        yield from (value[start:end] for start, end in split_sentences(value))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a feedback.

    Args:
        changed: False where everything stood there already, and nothing was written.
        report: None where the feedback was deleted.
        taken_back: what the learning before had changed and was voided.
        learned: what was added, updated or archived now; None where nothing was to be learned.
        refused: lessons of the model that say other numbers than the feedback has, with the reason.
    """

    feedback: Feedback
    report: Report | None
    changed: bool
    taken_back: tuple[Delta, ...] = ()
    learned: tuple[Delta, ...] | None = None
    refused: tuple[str, ...] = ()


def give_feedback(
    lab: Laboratory,
    run_id: str,
    form: FeedbackForm,
    strategy: Strategy,
    *,
    at: str,
    by: str,
    seen: int | None = None,
    learn: bool | None = None,
) -> Outcome:
    """Store a feedback or an edit of it, compare the run, and learn from it.

    A model is asked before anything is written: where it fails, all is as it was. What the
    feedback taught before is taken back with every edit by hand since, then it is learned again.

    Args:
        at: now, ISO 8601 with zone; `by` who.
        seen: the version of the feedback that was edited, 0 where there was none; None for the one
            that stands there now.
        learn: None for what was said of this feedback before, else the settings'
            `experience.learn`, but for an imported run: those teach only where a person says so,
            now or before. False takes back what was learned and learns nothing, also where the
            form says nothing new.

    Raises:
        UsageError: the run is unknown, or the form cannot be used.
        ChangedMeanwhileError: somebody else has edited it.
        LanguageModelError: the model could not be asked; nothing was changed.
    """
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
        given = find_feedback(reading, run_id)
        if seen is not None and given is not None:
            reading.require_version("feedback", run_id, "feedback on run", seen)
        has_taught = living_extraction(reading, run_id) is not None
        # What was said of learning counts as the form does: unticked, what it taught goes.
        is_refused = given is not None and given.learn is False and not has_taught
        is_same = is_unchanged(given, form) and (
            learn is None or (has_taught if learn else is_refused)
        )
        if given is not None and is_same:
            report = find_report(reading, run_id)
            same = report is not None and report.strategy == strategy
            if report is not None and same and not outdated_parts(reading, report):
                return Outcome(given, report, changed=False)
        measured = check_form(reading, run, form)
        version = given.version if given is not None else 0
        given_at = given.given_at if given is not None and given.status == "given" else at
        entry = Entry(run_id, version + 1, float(form.score), measured, given_at)
        comparison = make_comparison(reading, entry, strategy)
        names = {one.id: one.name for one in list_products(reading, deleted=True)}
    if is_same:
        return compare_again(lab, run_id, strategy, at=at, by=by)
    extraction_id = new_id()
    extracted = None
    by_itself = lab.settings.experience.learn and (run.kind != "imported" or has_taught)
    if learn is None and is_refused:
        learn = False
    if by_itself if learn is None else learn:
        extracted = _extract(lab, run, form, measured, comparison, names, extraction_id)

    def write(writing: Writing) -> tuple[Feedback, Report]:
        # While a model was asked somebody else may have given one, a first one too.
        if writing.version("feedback", run_id):
            writing.require_version("feedback", run_id, "feedback on run", version)
        feedback = write_feedback(writing, run, form, version or None, learn)
        return feedback, write_report(writing, feedback, strategy)

    return _teach(lab, run_id, extraction_id, extracted, at=at, by=by, beside=write)


def withdraw_feedback(
    lab: Laboratory, run_id: str, *, at: str, by: str, seen: int | None = None
) -> Outcome:
    """Delete a feedback and take back what it taught; nothing is learned in its place.

    Raises:
        UsageError: the run has no feedback.
        ChangedMeanwhileError: somebody else has edited it.
    """

    def write(writing: Writing) -> tuple[Feedback, None]:
        return delete_feedback(writing, run_id, seen), None

    return _teach(lab, run_id, "", None, at=at, by=by, beside=write)


def learn_again(
    lab: Laboratory, run_id: str, *, at: str, by: str, seen: int | None = None
) -> Outcome:
    """Learn from a feedback as it stands, in place of what it taught before.

    Raises:
        UsageError: the run has no feedback.
        ChangedMeanwhileError: somebody has edited it since it was seen, or while the model was
            asked.
        LanguageModelError: the model could not be asked; nothing was changed.
    """
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
        given = require_feedback(reading, run_id)
        reading.require_version("feedback", run_id, "feedback on run", seen)
        report = find_report(reading, run_id)
        strategy = strategy_now(reading, report) if report else Strategy()
        comparison = make_comparison(reading, given.entry, strategy)
        names = {one.id: one.name for one in list_products(reading, deleted=True)}
    extraction_id = new_id()
    extracted = _extract(lab, run, given.form, given.products, comparison, names, extraction_id)

    def write(writing: Writing) -> tuple[Feedback, Report | None]:
        writing.require_version("feedback", run_id, "feedback on run", given.version)
        return given, report

    return _teach(lab, run_id, extraction_id, extracted, at=at, by=by, beside=write)


def compare_again(
    lab: Laboratory, run_id: str, strategy: Strategy | None = None, *, at: str, by: str,
    seen: int | None = None,
) -> Outcome:  # fmt: skip
    """Make the report on a run anew, with the same strategy or another; nothing is learned.

    Args:
        strategy: None for that of the last report, as far as its chosen runs still have feedback.
        seen: the version of the report that was seen, 0 where there was none.

    Raises:
        UsageError: the run has no feedback, or a chosen one cannot be compared.
        ChangedMeanwhileError: somebody else has made one since it was seen.
    """
    with lab.store.writing(at, by) as writing:
        feedback = require_feedback(writing, run_id)
        if seen is not None and writing.version("report", run_id):
            writing.require_version("report", run_id, "the report on run", seen)
        if strategy is None:
            last = find_report(writing, run_id)
            strategy = strategy_now(writing, last) if last is not None else Strategy()
        return Outcome(feedback, write_report(writing, feedback, strategy), changed=True)


def _teach(
    lab: Laboratory,
    run_id: str,
    extraction_id: str,
    extracted: Extracted | None,
    *,
    at: str,
    by: str,
    beside: Callable[[Writing], tuple[Feedback, Report | None]],
) -> Outcome:
    """Take back what a run's feedback taught, and learn what it teaches now, all or nothing.

    Args:
        extracted: None to take back alone.
        at: now; `by` who.
        beside: writes what belongs to the same transaction, first.

    Raises:
        LockedError: others write experience faster than it can be compared.
    """
    new = {lesson.content for lesson in extracted.lessons} if extracted is not None else set()
    for _ in range(_TRIES):
        with lab.store.reading() as reading:
            known = new | contents(reading)
        # Made here, so that nobody waits for a model.
        find_equal = lab.nearness.finder(sorted(known))
        with lab.store.writing(at, by) as writing:
            if not known >= contents(writing):
                continue
            feedback, report = beside(writing)
            old = living_extraction(writing, run_id)
            if old is not None:
                write_extraction(writing, old.id, run_id, "rolled_back", old.record)
                take_back(writing, old.id, find_equal)
            if extracted is not None:
                write_extraction(writing, extraction_id, run_id, "made", extracted.record)
                for lesson in extracted.lessons:
                    place_lesson(writing, lesson, find_equal)
            return Outcome(
                feedback, report, changed=True,
                taken_back=tuple(delta_of(writing, old.id)) if old is not None else (),
                learned=tuple(delta_of(writing, extraction_id)) if extracted is not None else None,
                refused=tuple(extracted.record.get("refused", ())) if extracted is not None else (),
            )  # fmt: skip
    raise LockedError(
        f"{lab.store.path}: others write experience faster than new lessons can be compared with "
        "it. Nothing was changed: do it again."
    )


_NOTHING_CHANGED = (
    "Nothing was changed: the feedback and what was learned before are as they were. `--no-learn` "
    "stores the feedback alone."
)
# What of a comparison a model is given.
_COMPARED = ("text", "mean_of", "mean", "maximum", "best", "minus_mean", "minus_best", "details")


def _extract(
    lab: Laboratory, run: Run, form: FeedbackForm, measured: Sequence[Measured],
    comparison: Comparison, names: Mapping[str, str], extraction_id: str,
) -> Extracted:  # fmt: skip
    def named(value: Any) -> Any:
        """Return values with the names of products for their ids."""
        if isinstance(value, dict):
            rest = {key: named(each) for key, each in value.items() if key != "product_id"}
            is_product = "product_id" in value
            return {"product": names[value["product_id"]], **rest} if is_product else rest
        return [named(each) for each in value] if isinstance(value, (list, tuple)) else value

    compared = {key: named(each) for key, each in asdict(comparison).items() if key in _COMPARED}
    shown = {key: compared[key] for key in _COMPARED if compared[key]}
    teaching = Teaching(run, form, named([asdict(one) for one in measured]), shown)
    try:
        return extract_lessons(
            teaching, extraction_id, lab.open_model(), lab.settings.experience.lessons
        )
    except AnswerError as error:
        raise AnswerError(f"{error} {_NOTHING_CHANGED}", error.answer) from error
    except LanguageModelError as error:
        raise type(error)(f"{error} {_NOTHING_CHANGED}") from error


@dataclass(frozen=True, slots=True)
class FeedbackPage:
    """All that a form for the feedback on a run shows.

    Args:
        products: that may be measured; `presets` sets of them.
        names: of every product by id, deleted ones too: a feedback may name one.
        feedback: as it stands; None where there is none.
        version: to be given back as `seen`; 0 where there never was a feedback.
        strategy: with what it was compared last, else as the settings say.
        teaches: whether it will be learned from unless the person says otherwise.
    """

    run: Run
    products: tuple[Product, ...]
    presets: tuple[Preset, ...]
    names: dict[str, str]
    feedback: Feedback | None
    version: int
    strategy: Strategy
    report: Report | None
    teaches: bool


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One feedback with what was made.

    Args:
        recipe: that was made; `as_made` how otherwise than proposed.
        products: name, measured value, fraction, in the order of the form.
        set_name: the names of the set of products, by which runs are of the same kind.
        version: of the feedback.
        imported_at, day: of an imported run when it was imported, and the day of the experiment;
            each empty where that is not known.
    """

    run_id: str
    kind: str
    given_at: str
    recipe: Recipe
    as_made: str
    score: float
    products: tuple[tuple[str, float, float], ...]
    set_name: str
    pros: str
    cons: str
    other: str
    version: int
    imported_at: str
    day: str


def feedback_page(lab: Laboratory, run_id: str) -> FeedbackPage:
    """Return what a form for the feedback on a run begins with.

    Raises:
        UsageError: there is no such run.
    """
    settings = lab.settings
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
        found = find_feedback(reading, run_id)
        given = found if found is not None and found.status == "given" else None
        report = find_report(reading, run_id) if given is not None else None
        every = list_products(reading, deleted=True)
        has_taught = living_extraction(reading, run_id) is not None
        return FeedbackPage(
            run=run,
            products=tuple(one for one in every if one.status == "active"),
            presets=tuple(list_presets(reading)),
            names={one.id: one.name for one in every},
            feedback=given,
            version=found.version if found is not None else 0,
            strategy=strategy_now(reading, report)
            if report is not None
            else Strategy(use_method3=settings.comparison.method3),
            report=report,
            teaches=has_taught
            or (
                settings.experience.learn
                and run.kind != "imported"
                and (given is None or given.learn is not False)
            ),
        )


def preview_comparison(
    lab: Laboratory, run_id: str, form: FeedbackForm, strategy: Strategy
) -> Comparison:
    """Return how a run would compare if its feedback were given so; nothing is written.

    Raises:
        UsageError: as `give_feedback`.
    """
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
        found = find_feedback(reading, run_id)
        version, at = (found.version + 1, found.given_at) if found is not None else (1, "")
        measured = check_form(reading, run, form)
        entry = Entry(run_id, version, float(form.score), measured, at)
        return make_comparison(reading, entry, strategy)


def list_history(lab: Laboratory) -> list[HistoryRow]:
    """Return every feedback that is not deleted with its recipe, the newest first."""
    with lab.store.reading() as reading:
        rows = []
        for one in reversed(list_feedback(reading)):
            run, _ = read_run(reading, one.run_id)
            names = product_names(reading, [each.product_id for each in one.products])
            measured = tuple(
                (name, each.value, each.fraction)
                for name, each in zip(names, one.products, strict=True)
            )
            imported_at, day = run.dates
            rows.append(
                HistoryRow(
                    run_id=run.id, kind=run.kind, given_at=one.given_at,
                    recipe=run.recipes[one.recipe_index - 1], as_made=one.as_made,
                    score=one.score, products=measured, set_name=" + ".join(sorted(names)),
                    pros=one.pros, cons=one.cons, other=one.other, version=one.version,
                    imported_at=imported_at, day=day,
                )
            )  # fmt: skip
        return rows


_COLUMNS = ("run", "kind", "given at", "imported at", "day of experiment", "M1", "M2", "ratio",
            "modifier", "as made", "score", "product", "value", "fraction", "pros", "cons",
            "other")  # fmt: skip


def history_csv(rows: Sequence[HistoryRow]) -> bytes:
    """Return a table of experiments, a line for each measured product, as spreadsheets read it."""
    lines: list[Sequence[Cell]] = [_COLUMNS]
    for one in rows:
        made = one.recipe
        parts = (made.M1, made.M2, made.atomic_ratio, made.small_molecule_modifier.name)
        for name, value, fraction in one.products:
            lines.append(
                (one.run_id, one.kind, one.given_at, one.imported_at, one.day, *parts, one.as_made,
                 one.score, name, value, fraction, one.pros, one.cons, one.other)
            )  # fmt: skip
    return write_csv(lines).encode("utf-8-sig")
