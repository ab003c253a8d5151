"""A second opinion on a run's recipes: a Gaussian process over the history of a set of products.

It stands beside a recipe and does nothing else: it proposes, ranks and filters none. It needs a
space that the user has declared, since this system presupposes no list of metals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.lab.feedback import Feedback, list_feedback, signature
from rag_assets.lab.opening import Laboratory
from rag_assets.lab.store import Reading, Recipe, read_run
from rag_assets.model import ConfigurationError, UsageError
from rag_assets.settings import SpaceSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# With fewer the error that is left out one by one says nothing.
LEAST_ENTRIES = 8
_SEED = 0


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of one recipe.

    Args:
        mean, deviation: in the unit of what was asked for; None where the recipe lies outside of
            the declared space.
        outside: what of it is not declared.
    """

    rank: int
    mean: float | None
    deviation: float | None
    outside: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A second opinion.

    Args:
        of: `score`, or the name of a product.
        entries: feedback that it rests on.
        left_out: feedback of the same set that it does not: the recipe was made otherwise than
            proposed, or lies outside of the declared space.
        error: root mean square of what each entry, left out, was missed by.
        error_of_mean: the same where the mean of the others is said of each.
    """

    of: str
    entries: int
    left_out: int
    error: float
    error_of_mean: float
    recipes: tuple[Expected, ...]

    @property
    def knows_more(self) -> bool:
        """Whether it misses by less than the mean of the others does."""
        return self.error < self.error_of_mean


def second_opinion(
    lab: Laboratory,
    run_id: str,
    product_ids: Sequence[str],
    product_id: str | None,
    *,
    name: str,
    is_fraction: bool = False,
) -> Opinion:
    """Return what a Gaussian process expects of a run's recipes. Nothing is stored.

    Args:
        product_ids: the set whose history counts; sharing some products is not enough.
        product_id: whose value is asked for; None for the score.
        name: what is asked for, as people call it.
        is_fraction: whether the product's fraction is asked for, not its value.

    Raises:
        ConfigurationError: no space is declared.
        UsageError: there is no such run, the product is not of the set, or there is too little
            history.
    """
    space = lab.settings.space
    if space is None:
        raise ConfigurationError(
            "a second opinion needs a declared space: write `lab: {space: {metals: [Cu, Mo], "
            "modifiers: [glycine]}}` with what you would make into config.yaml."
        )
    if product_id is not None and product_id not in product_ids:
        raise UsageError(f"{name} is not of the set of products whose history is asked for.")
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
        same = [
            one
            for one in list_feedback(reading)
            if one.signature == signature(product_ids) and one.run_id != run_id
        ]
        made = [
            (recipe, _measured(one, product_id, is_fraction=is_fraction))
            for one in same
            if not one.as_made and not _outside(recipe := _recipe_of(reading, one), space)
        ]
    if len(made) < LEAST_ENTRIES:
        raise UsageError(
            f"the history of this set of products has {len(made)} entries that were made as "
            f"proposed within the declared space ({len(same)} in all); a second opinion needs "
            f"{LEAST_ENTRIES}."
        )
    return _opinion(space, made, run.recipes, name, len(same) - len(made))


def _recipe_of(reading: Reading, feedback: Feedback) -> Recipe:
    run, _ = read_run(reading, feedback.run_id)
    return run.recipes[feedback.recipe_index - 1]


def _measured(feedback: Feedback, product_id: str | None, *, is_fraction: bool) -> float:
    if product_id is None:
        return feedback.score
    (one,) = (each for each in feedback.products if each.product_id == product_id)
    return one.fraction if is_fraction else one.value


def _outside(recipe: Recipe, space: SpaceSettings) -> str:
    """Return what of a recipe is not declared; nothing where all is."""
    parts = [metal for metal in (recipe.M1, recipe.M2) if metal not in space.metals]
    modifier = recipe.small_molecule_modifier.name
    if modifier.casefold() not in {one.casefold() for one in space.modifiers}:
        parts.append(modifier)
    return ", ".join(parts)


def _opinion(
    space: SpaceSettings,
    made: Sequence[tuple[Recipe, float]],
    proposed: Sequence[Recipe],
    name: str,
    left_out: int,
) -> Opinion:
    import numpy as np

    features = np.array([_features(recipe, space) for recipe, _ in made])
    values = np.array([value for _, value in made])
    missed, missed_by_mean = [], []
    for left in range(len(values)):
        others = np.arange(len(values)) != left
        mean, _ = _expect(features[others], values[others], features[left : left + 1])
        missed.append(mean[0] - values[left])
        missed_by_mean.append(values[others].mean() - values[left])
    expected = []
    for recipe in proposed:
        outside = _outside(recipe, space)
        if outside:
            expected.append(Expected(recipe.rank, None, None, outside))
            continue
        mean, deviation = _expect(features, values, np.array([_features(recipe, space)]))
        expected.append(Expected(recipe.rank, float(mean[0]), float(deviation[0])))
    return Opinion(
        name,
        len(values),
        left_out,
        float(np.sqrt(np.mean(np.square(missed)))),
        float(np.sqrt(np.mean(np.square(missed_by_mean)))),
        tuple(expected),
    )


def _features(recipe: Recipe, space: SpaceSettings) -> list[float]:
    """Return the share of each declared metal, and which modifier it is."""
    first, _, second = recipe.atomic_ratio.replace("：", ":").replace("/", ":").partition(":")
    counts = {recipe.M1: float(first), recipe.M2: float(second)}
    whole = sum(counts.values())
    modifier = recipe.small_molecule_modifier.name.casefold()
    return [
        *(counts.get(metal, 0.0) / whole for metal in space.metals),
        *(float(one.casefold() == modifier) for one in space.modifiers),
    ]


def _expect(
    features: "NDArray[np.float64]", values: "NDArray[np.float64]", asked: "NDArray[np.float64]"
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """Return means and deviations at `asked`; the process is fitted to the entries given."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(1.0, (1e-2, 1e2)) * RBF(1.0, (1e-1, 1e1)) + WhiteKernel(
        0.1, (1e-4, 1e1)
    )
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=_SEED)
    with warnings.catch_warnings():
        # Few entries leave a length or the noise at its bound, which the error tells better.
        warnings.simplefilter("ignore", ConvergenceWarning)
        process.fit(features, values)
    mean, deviation = process.predict(asked, return_std=True)
    return mean, deviation
