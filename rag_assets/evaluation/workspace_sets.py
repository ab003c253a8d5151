"""Evaluation sets that a workspace keeps in `evaluations/`: run, reported, compared, remembered.

A set is a folder in the layout of BEIR, or a JSON file as `load_eval_set` reads it. A report that
stands beside it as `<name>.baseline.json` (a copy of a JSON that an evaluation has written) is its
pinned baseline.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.evaluation.knowledge_evaluator import evaluate_evalset
from rag_assets.evaluation.metrics import Interval, difference_interval
from rag_assets.evaluation.report import EvaluationReport, ReportTable
from rag_assets.evaluation.retrieval import evaluate_retrieval
from rag_assets.evaluation.sets import CORPUS, load_eval_set
from rag_assets.model import Progress, UsageError, escape_inline, escape_prose, hash_fields
from rag_assets.storage import Notify, find_versions, read_json, write_version
from rag_assets.workspace import Workspace

_FOLDER = "evaluations"
_BASELINE = ".baseline.json"
_NAME = re.compile(r"[\w][\w.-]*")
BY_QUESTION = "ndcg_at_10_by_question"
_LONGEST_BAR = 40
_SHOWN_RUNS = 20
# Times are of a machine and an hour; a report that differs in them alone is the same.
_TIMES = re.compile(r".*_ms")


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """A report and its path. `is_new` is False where the same figures stood there already."""

    name: str
    values: Mapping[str, Any]
    markdown: Path
    digest: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """The latest figures of a set against its baseline, question by question.

    Args:
        questions: that both have answered.
        change: nDCG@10 now less that of the baseline.
    """

    name: str
    questions: int
    change: Interval

    @property
    def is_drop(self) -> bool:
        """Whether the whole interval of the change lies below 0."""
        return self.change.high < 0


def list_evaluation_sets(workspace: Workspace) -> dict[str, Path]:
    """Return the sets in `evaluations/` by name, sorted.

    Raises:
        UsageError: two sets share a name, or a name holds characters that a partition may not.
    """
    folder = workspace.evaluations
    found = [path.parent for path in folder.glob(f"[!.]*/{CORPUS}")]
    found += [path for path in folder.glob("[!.]*.json") if not path.name.endswith(_BASELINE)]
    sets: dict[str, Path] = {}
    for path in sorted(found):
        name = path.name if path.is_dir() else path.stem
        if not _NAME.fullmatch(name):
            raise UsageError(f"{path}: rename it: letters, digits, '.', '-' and '_' only.")
        if name in sets:
            raise UsageError(f"{path} and {sets[name]} share the name '{name}'. Rename one.")
        sets[name] = path
    return sets


def baseline_of(workspace: Workspace, name: str) -> Path:
    """Return where the pinned baseline of a set stands, if it has one."""
    return workspace.evaluations / f"{name}{_BASELINE}"


def run_evaluation(
    workspace: Workspace,
    name: str,
    *,
    notify: Notify = lambda sentence: None,
    on_progress: Progress | None = None,
) -> StoredEvaluation:
    """Evaluate a set with the workspace's settings and store the report under `outputs/`.

    The same figures with the same settings are the same report: then nothing is written.

    Raises:
        UsageError: no such set, or one that cannot be used.
    """
    sets = list_evaluation_sets(workspace)
    if name not in sets:
        known = ", ".join(sets) or "none yet"
        raise UsageError(f"{workspace.evaluations} holds no set '{name}' (known: {known}).")
    cache = workspace.meta / _FOLDER
    settings = workspace.settings
    report = (
        evaluate_retrieval(
            sets[name], settings, cache=cache, notify=notify, on_progress=on_progress
        )
        if sets[name].is_dir()
        else evaluate_evalset(
            load_eval_set(sets[name]), settings, cache, notify=notify, on_progress=on_progress
        )
    )
    values = report.to_json()
    digest = _digest(values)
    before = stored_evaluations(workspace, name)
    if before and _digest(before[-1][1]) == digest:
        return StoredEvaluation(name, values, before[-1][0].with_suffix(".md"), digest, False)
    history = [stored for _, stored in before] + [values]
    written = write_version(
        workspace.outputs / _FOLDER,
        name,
        {
            ".md": render_evaluation(name, report, history, compare(workspace, name, values)),
            ".json": json.dumps(values, indent=1, ensure_ascii=False) + "\n",
        },
        workspace.meta / "version_log.jsonl",
        workspace.locks / "outputs.lock",
        f"evaluation of '{name}'",
        notify,
    )
    return StoredEvaluation(name, values, written.files[".md"], digest, True)


def stored_evaluations(workspace: Workspace, name: str) -> list[tuple[Path, dict[str, Any]]]:
    """Return (file, values) of every stored report of a set, oldest first."""
    return [
        (path, dict(read_json(path, "evaluation")))
        for _, path in find_versions(workspace.outputs / _FOLDER, name, ".json")
    ]


def compare(workspace: Workspace, name: str, values: Mapping[str, Any]) -> Comparison | None:
    """Return how figures of a set stand to its pinned baseline; None where none is pinned.

    Raises:
        UsageError: the baseline is no report of these questions.
    """
    file = baseline_of(workspace, name)
    if not file.is_file():
        return None
    pinned = read_json(file, "evaluation").get(BY_QUESTION)
    now = values[BY_QUESTION]
    shared = sorted(set(pinned) & set(now)) if isinstance(pinned, dict) else []
    if not isinstance(pinned, dict) or not shared:
        raise UsageError(
            f"{file}: no question of '{name}' stands in its '{BY_QUESTION}'. Pin a report: copy a "
            f"JSON of outputs/{_FOLDER}/ there."
        )
    change = difference_interval([now[key] for key in shared], [pinned[key] for key in shared])
    return Comparison(name, len(shared), change)


def dropped_sets(workspace: Workspace) -> list[str]:
    """Return a sentence for each set that has fallen below its baseline by more than chance."""
    sentences = []
    for name in list_evaluation_sets(workspace):
        stored = stored_evaluations(workspace, name)
        comparison = compare(workspace, name, stored[-1][1]) if stored else None
        if comparison and comparison.is_drop:
            sentences.append(f"{name}: {_describe(comparison)}")
    return sentences


def render_evaluation(
    name: str,
    report: EvaluationReport,
    history: Sequence[Mapping[str, Any]],
    comparison: Comparison | None,
) -> str:
    """Return a report as Markdown: figures, comparison, tables, plots, history.

    Args:
        history: values of every report of the set, oldest first, this one included.
    """
    figures = ReportTable("", ("figure", "value"), tuple(report.metrics.items()))
    counted = ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in
                        report.counts.items())  # fmt: skip
    scores = list(report.details[BY_QUESTION].values())
    parts = [
        f"# Evaluation of {escape_inline(name, opens=False)}",
        f"{report.evaluation}: {counted}; settings `{report.settings_digest[:12]}`.",
        f"Against the pinned baseline: {_describe(comparison)}." if comparison else "",
        "## Figures",
        figures.to_markdown(),
        *(f"### {escape_prose(table.title)}\n\n{table.to_markdown()}" for table in report.tables),
        "## nDCG@10 of the questions",
        f"```text\n{_draw_scores(scores)}\n```" if scores else "No question was asked.",
        "## History of nDCG@10",
        f"```text\n{_draw_history(history)}\n```",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _describe(comparison: Comparison) -> str:
    change = comparison.change
    verdict = "a drop" if comparison.is_drop else "no drop beyond chance"
    return (
        f"nDCG@10 {change.mean:+.3f} ({change.low:+.3f} to {change.high:+.3f}, 95 %) over "
        f"{comparison.questions} questions, {verdict}"
    )


def _draw_scores(scores: Sequence[float]) -> str:
    """Return how many scores, in [0, 1], lie in each tenth; the last one holds 1 too."""
    held = [0] * 10
    for score in scores:
        held[min(9, int(10 * score + 1e-9))] += 1
    return "\n".join(
        f"{tenth / 10:.1f} – {(tenth + 1) / 10:.1f} "
        f"{'█' * round(_LONGEST_BAR * count / max(held)) or ('▏' if count else '')} {count}"
        for tenth, count in enumerate(held)
    )


def _draw_history(history: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for number, values in list(enumerate(history, start=1))[-_SHOWN_RUNS:]:
        scores = list(values[BY_QUESTION].values())
        mean = sum(scores) / len(scores) if scores else 0.0
        bar = "█" * round(_LONGEST_BAR * mean)
        lines.append(f"{number:>4} {bar} {mean:.3f} settings {values['settings_digest'][:12]}")
    return "\n".join(lines)


def _digest(values: Mapping[str, Any]) -> str:
    """Return a digest of a report without what is of its run alone."""
    counts = {key: count for key, count in values["counts"].items() if key != "parsed_now"}
    kept = {key: value for key, value in values.items() if not _TIMES.fullmatch(key)}
    return hash_fields({**kept, "counts": counts})
