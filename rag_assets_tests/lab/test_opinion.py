"""A second opinion: what it expects, what it misses by, and what it may not say."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rag_assets.cli.main import build_cli
from rag_assets.lab import (
    FeedbackForm,
    Laboratory,
    Modifier,
    Strategy,
    export_events,
    find_product,
    give_feedback,
    record_run,
    second_opinion,
)
from rag_assets.model import ConfigurationError, UsageError
from rag_assets_tests.lab.laboratories import AT, make_laboratory, recipe, run_of

METALS, MODIFIERS = ("Cu", "Mo", "Fe", "Zn"), ("glycine", "benzoic acid")
SPACE = {"space": {"metals": list(METALS), "modifiers": list(MODIFIERS)}}


def make(root: Path, score: Any, entries: int = 16, **changes: Any) -> Laboratory:
    """A laboratory whose feedback has the scores that a function of copper's share gives."""
    lab = make_laboratory(root, {"lab": SPACE})
    numbers = random.Random(3)
    for number in range(entries):
        second = numbers.choice(METALS[1:])
        copper, other = numbers.randint(1, 5), numbers.randint(1, 5)
        made = recipe(
            M1="Cu", M2=second, atomic_ratio=f"{copper}:{other}",
            small_molecule_modifier=Modifier(name=numbers.choice(MODIFIERS)),
        )  # fmt: skip
        run_id = f"run-{number}"
        with lab.store.writing(AT, "ana") as writing:
            record_run(writing, run_of(run_id).model_copy(update={"recipes": (made,)}))
        form = FeedbackForm(
            score(copper / (copper + other), numbers), {product(lab, "C2H4"): float(copper)},
            **changes,
        )  # fmt: skip
        give_feedback(lab, run_id, form, Strategy(), at=AT, by="ana", learn=False)
    asked = [
        recipe(1, M1="Cu", M2="Mo", atomic_ratio="4:1"),
        recipe(2, M1="Cu", M2="Mo", atomic_ratio="1:4"),
        recipe(3, M1="Cu", M2="Ag"),
    ]
    with lab.store.writing(AT, "ana") as writing:
        record_run(writing, run_of("asked").model_copy(update={"recipes": tuple(asked)}))
    return lab


def product(lab: Laboratory, name: str) -> str:
    with lab.store.reading() as reading:
        return find_product(reading, name).id


def ask(lab: Laboratory) -> Any:
    return second_opinion(lab, "asked", [product(lab, "C2H4")], None, name="score")


def test_what_depends_on_the_recipe_is_expected_better_than_by_the_mean(tmp_path: Path) -> None:
    lab = make(tmp_path / "w", lambda share, _: 10 * share)
    before = list(export_events(lab.store))
    opinion = ask(lab)
    assert opinion.entries == 16
    assert opinion.knows_more
    assert opinion.error < opinion.error_of_mean / 3
    first, second, outside = opinion.recipes
    assert first.mean > second.mean + 3
    assert first.deviation > 0
    assert (outside.mean, outside.deviation, outside.outside) == (None, None, "Ag")
    assert list(export_events(lab.store)) == before


def test_noise_is_expected_no_better_than_by_the_mean(tmp_path: Path) -> None:
    opinion = ask(make(tmp_path / "w", lambda _, numbers: numbers.random()))
    assert opinion.error > 0.8 * opinion.error_of_mean


def test_a_run_is_no_entry_of_itself_and_deviations_are_left_out(tmp_path: Path) -> None:
    lab = make(tmp_path / "w", lambda share, _: share, entries=9)
    form = FeedbackForm(99.0, {product(lab, "C2H4"): 1.0}, as_made="half of the glycine")
    give_feedback(lab, "run-0", form, Strategy(), at=AT, by="ana", learn=False)
    give_feedback(
        lab, "asked", FeedbackForm(50.0, {product(lab, "C2H4"): 1.0}), Strategy(),
        at=AT, by="ana", learn=False,
    )  # fmt: skip
    opinion = ask(lab)
    assert (opinion.entries, opinion.left_out) == (8, 1)
    assert all(one.mean is None or one.mean < 2 for one in opinion.recipes)


def test_too_little_history_and_no_space_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has 7 entries"):
        ask(make(tmp_path / "few", lambda share, _: share, entries=7))
    lab = make(tmp_path / "w", lambda share, _: share, entries=8)
    with pytest.raises(UsageError, match="not of the set"):
        second_opinion(lab, "asked", [product(lab, "CO")], product(lab, "C2H4"), name="C2H4")
    with pytest.raises(UsageError, match="has 0 entries"):
        second_opinion(lab, "asked", [product(lab, "CO")], None, name="score")
    with pytest.raises(ConfigurationError, match="declared space"):
        ask(make_laboratory(tmp_path / "none"))


def test_the_command_says_what_it_is_worth(tmp_path: Path) -> None:
    lab = make(tmp_path / "w", lambda share, _: 10 * share, entries=8)
    arguments = ["--workspace", str(lab.workspace.root), "lab", "opinion", "asked", "C2H4"]
    shown = CliRunner().invoke(build_cli(), arguments).output
    assert "recipe 3: nothing can be said, Ag is not declared" in shown
    assert "from 8 entries (0 of the same products left out)" in shown
    told = json.loads(
        CliRunner().invoke(build_cli(), [*arguments, "--of", "C2H4", "--fraction", "--json"]).output
    )
    # The only product of its set: its fraction is 1 in every entry.
    assert told["recipes"][0]["mean"] == pytest.approx(1.0)
    assert not told["knows_more"]
