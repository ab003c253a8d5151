"""Evaluations of a workspace: stored, remembered, compared with a pinned baseline."""

import json
from pathlib import Path

import pytest

from rag_assets.evaluation.workspace_sets import (
    compare,
    dropped_sets,
    list_evaluation_sets,
    run_evaluation,
    stored_evaluations,
)
from rag_assets.model import UsageError
from rag_assets.workspace import Workspace, create_workspace

from .beir import write_set


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made, _ = create_workspace(tmp_path / "library", "thesis")
    (made.root / "config.yaml").write_text(
        "embed: {models: [{kind: hashing, model: hashing}]}\n"
        "parse: {workers: 1}\nretrieve: {method: lexical}\n"
    )
    (made.root / "evaluations").mkdir()
    write_set(made.root / "evaluations" / "birds")
    return Workspace.open(made.root)


def pin(workspace: Workspace, scores: dict[str, float]) -> None:
    file = workspace.root / "evaluations" / "birds.baseline.json"
    file.write_text(json.dumps({"ndcg_at_10_by_question": scores}))


def test_the_same_figures_are_stored_once_and_others_beside_them(workspace: Workspace) -> None:
    first = run_evaluation(workspace, "birds")
    again = run_evaluation(workspace, "birds")
    assert (first.is_new, again.is_new) == (True, False)
    assert again.markdown == first.markdown
    text = first.markdown.read_text(encoding="utf-8")
    assert "ndcg_at_10 | 1.000" in text
    assert "█" in text

    config = workspace.root / "config.yaml"
    config.write_text(config.read_text().replace("lexical", "semantic"))
    changed = run_evaluation(Workspace.open(workspace.root), "birds")
    assert changed.is_new
    assert len(stored_evaluations(workspace, "birds")) == 2
    history = changed.markdown.read_text(encoding="utf-8").partition("## History")[2]
    assert history.count("settings") == 2


def test_only_a_drop_beyond_chance_fails(workspace: Workspace) -> None:
    questions = [f"q{number}" for number in range(40)]
    values = {"ndcg_at_10_by_question": dict.fromkeys(questions, 0.5)}
    assert compare(workspace, "birds", values) is None

    pin(workspace, {name: 0.5 + (0.4 if number % 2 else -0.38) for number, name in
                    enumerate(questions)})  # fmt: skip
    unsure = compare(workspace, "birds", values)
    assert unsure is not None
    assert unsure.change.mean < 0
    assert not unsure.is_drop

    pin(workspace, dict.fromkeys(questions, 0.52))
    sure = compare(workspace, "birds", values)
    assert sure is not None
    assert sure.is_drop


def test_the_check_looks_at_what_was_stored_last(workspace: Workspace) -> None:
    assert dropped_sets(workspace) == []
    folder = workspace.outputs / "evaluations"
    folder.mkdir(parents=True)
    for version, score in ((1, 0.9), (2, 0.1)):
        stored = {"ndcg_at_10_by_question": {"q1": score, "q2": score}}
        (folder / f"birds_v{version:03d}.json").write_text(json.dumps(stored))
    pin(workspace, {"q1": 0.8, "q2": 0.8})
    assert dropped_sets(workspace) == [
        "birds: nDCG@10 -0.700 (-0.700 to -0.700, 95 %) over 2 questions, a drop"
    ]
    pin(workspace, {"other": 0.8})
    with pytest.raises(UsageError, match="no question of 'birds'"):
        dropped_sets(workspace)


def test_sets_are_folders_and_files_and_share_no_name(workspace: Workspace) -> None:
    folder = workspace.root / "evaluations"
    (folder / "kb.json").write_text("{}")
    pin(workspace, {"q1": 1.0})
    assert list(list_evaluation_sets(workspace)) == ["birds", "kb"]
    with pytest.raises(UsageError, match="holds no set 'cats' \\(known: birds, kb\\)"):
        run_evaluation(workspace, "cats")
    (folder / "birds.json").write_text("{}")
    with pytest.raises(UsageError, match="share the name 'birds'"):
        list_evaluation_sets(workspace)
