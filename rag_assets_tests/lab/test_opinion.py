"""A second opinion: what counts, what is claimed, and what is said where too little is known."""

import json
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.lab import opinion as module
from rag_assets.lab.feedback import FeedbackForm
from rag_assets.lab.laboratory import Laboratory
from rag_assets.lab.opinion import FEWEST_RECIPES, Made, form_opinion, judge_history, made_of
from rag_assets.lab.runs import Modifier, Recipe, Run, record_run
from rag_assets.lab.teaching import give_feedback
from rag_assets.model import ConfigurationError, UsageError
from rag_assets_tests.lab.laboratories import (
    AT,
    NO_METHOD3,
    make_laboratory,
    product_ids,
    recipe,
)

needs_baybe = pytest.mark.skipif(
    find_spec("baybe") is None, reason="BayBE is not installed: pip install 'rag-assets[bo]'"
)
PAIRS = [("Cu", "Mo"), ("Cu", "Zn"), ("Ag", "Cu")]
RATIOS = ["1:1", "2:1", "1:2"]
MODIFIERS = ["glycine", "benzoic acid", "oxalic acid"]
SPACE = [(pair, ratio, name) for pair in PAIRS for ratio in RATIOS for name in MODIFIERS]


def written(made: Any, rank: int = 1) -> Recipe:
    (first, second), ratio, name = made
    return recipe(
        rank, M1=first, M2=second, atomic_ratio=ratio, small_molecule_modifier=Modifier(name=name)
    )


def put_run(lab: Laboratory, run_id: str, *made: Any) -> None:
    recipes = tuple(written(one, rank) for rank, one in enumerate(made, start=1))
    run = Run(id=run_id, kind="model", state="done", created_at=AT, request={}, recipes=recipes)
    with lab.store.writing(AT, "program") as writing:
        record_run(writing, run)


def give(lab: Laboratory, run_id: str, made: Any, value: float, **more: Any) -> None:
    put_run(lab, run_id, made)
    ids = product_ids(lab)
    values = more.pop("values", {"C2H4": value, "CO": 10 - value})
    form = FeedbackForm(value, {ids[key]: each for key, each in values.items()}, **more)
    give_feedback(lab, run_id, form, NO_METHOD3, at=AT, by="ana", learn=False)


def truth(made: Any) -> float:
    pair, _, name = made
    return 1.0 + 3 * PAIRS.index(pair) + MODIFIERS.index(name)


def test_without_baybe_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"pip install 'rag-assets\[bo\]'"):
        form_opinion(make_laboratory(tmp_path), product="C2H4", by="fraction", count=3)


def test_one_recipe_is_one_however_it_is_written() -> None:
    one = made_of(
        recipe(M1="Mo", M2="Cu", atomic_ratio="1:2", small_molecule_modifier=Modifier(name="乙酸"))
    )
    other = recipe(atomic_ratio="4:2", small_molecule_modifier=Modifier(name="Acetic acid"))
    assert one == made_of(other) == Made(("Cu", "Mo"), Fraction(2), "acetic acid")


@needs_baybe
def test_too_few_recipes_are_no_data_and_what_does_not_count_is_told(tmp_path: Path) -> None:
    lab = make_laboratory(tmp_path)
    for n in range(FEWEST_RECIPES - 1):
        give(lab, f"r{n}", SPACE[n], truth(SPACE[n]))
    give(lab, "again", SPACE[0], 1.5)
    give(lab, "otherwise", SPACE[20], 9.0, as_made="half the glycine")
    give(lab, "alone", SPACE[21], 5.0, values={"C2H4": 5.0})
    found = form_opinion(lab, product="c2h4", by="fraction", count=3)
    assert found.judged is None
    assert (found.results, found.recipes) == (FEWEST_RECIPES, FEWEST_RECIPES - 1)
    assert (found.made_otherwise, found.other_products) == (1, 1)
    with pytest.raises(UsageError, match="needs a product"):
        form_opinion(lab, product=None, by="value", count=3)


@needs_baybe
def test_what_is_suggested_is_new_and_good_and_the_same_each_time(tmp_path: Path) -> None:
    lab = make_laboratory(tmp_path)
    tried = [SPACE[n] for n in np.random.default_rng(5).permutation(len(SPACE))[:16]]
    for n, made in enumerate(tried):
        give(lab, f"r{n}", made, truth(made))
    best = max((one for one in SPACE if one not in tried), key=truth)
    put_run(lab, "waits", best, (("In", "Ni"), "1:1", "glycine"))
    found = form_opinion(lab, product="C2H4", by="value", count=2)
    assert found.judged is not None
    assert found.judged.knows_more
    new = [one.made for one in found.judged.suggested]
    assert len(new) == 2
    assert not {*new} & {made_of(written(one)) for one in (*tried, best)}
    mean = np.mean([truth(one) for one in SPACE])
    assert all(truth((one.metals, one.ratio, one.modifier)) > mean for one in new)
    waiting = {rank: forecast for _, rank, _, forecast in found.pending}
    assert waiting[2] is None
    assert waiting[1] is not None
    assert waiting[1].low < waiting[1].expected < waiting[1].high
    assert waiting[1].expected == pytest.approx(truth(best), abs=0.5)
    again = form_opinion(lab, product="C2H4", by="value", count=2)
    assert json.dumps(found.to_json()) == json.dumps(again.to_json())


@needs_baybe
def test_of_noise_it_claims_nothing_and_replicates_are_no_recipes_of_their_own() -> None:
    rng = np.random.default_rng(2)
    results = []
    for (first, second), ratio, name in SPACE[::2]:
        of_recipe = rng.normal()  # what replicates share and nothing foretells
        made = Made((first, second), Fraction(*map(int, ratio.split(":"))), name)
        results += [(made, of_recipe + 0.01 * rng.normal()) for _ in range(3)]
    judged = judge_history(results, {}, count=1)
    assert not judged.knows_more
    (one,) = judged.suggested
    assert one.expected == pytest.approx(np.mean([value for _, value in results]))
    assert one.high - one.low > 3 * np.std([value for _, value in results])
