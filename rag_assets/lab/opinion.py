"""A second opinion: what past experiments expect of recipes, and which to make next (BayBE).

The search space is what the history holds: its pairs of metals, ratios and modifiers, in every
combination. A Gaussian process of BayBE is believed only where, on results held back, its errors
are smaller than those of the mean; intervals come from the errors on results held back, so that
they hold what they claim. `python -m benchmarks.lab_opinion` measures both.
"""

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from itertools import product as combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rag_assets.lab.chemistry import chemistry, has_rdkit
from rag_assets.lab.feedback import list_feedback
from rag_assets.lab.laboratory import Laboratory
from rag_assets.lab.products import find_product
from rag_assets.lab.runs import Recipe, list_runs
from rag_assets.llm.services import missing_extra
from rag_assets.model import UsageError, count_of

if TYPE_CHECKING:
    import pandas as pd

By = Literal["fraction", "value", "score"]
# Below, by `python -m benchmarks.lab_opinion`, intervals hold less than 90 % or say nothing.
FEWEST_RECIPES = 10
# Of the test that the model's errors are smaller than those of the mean.
_CHANCE = 0.01
_COVERED = 0.95
_SEED = 1
_COMPONENTS = 3
# BayBE's random state is the process's: a desk has several threads.
_LOCK = threading.Lock()


class Made(NamedTuple):
    """What of a recipe is varied: metals in the order of the alphabet, atoms of the first for one
    of the second, the one name of the modifier."""

    metals: tuple[str, str]
    ratio: Fraction
    modifier: str

    @property
    def shown(self) -> str:
        """As a person reads it: `Cu, Mo 2:1, glycine`."""
        numbers = f"{self.ratio.numerator}:{self.ratio.denominator}"
        return f"{', '.join(self.metals)} {numbers}, {self.modifier}"


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one new experiment on a recipe is expected to give: 95 % of them within `low`, `high`."""

    made: Made
    expected: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Judged:
    """What a history says.

    Args:
        knows_more: whether recipes tell results better than the mean of all does.
        explained: share of the mean's squared error, on results held back, that the model saves.
        suggested: recipes of the search space that were never made, the best to make first.
        others: a forecast for each recipe that was asked about; None where a part was never tried.
    """

    knows_more: bool
    explained: float
    suggested: tuple[Forecast, ...]
    others: tuple[Forecast | None, ...]


def judge_history(
    results: Sequence[tuple[Made, float]],
    smiles: Mapping[str, str],
    *,
    count: int,
    pending: Sequence[Made] = (),
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Judged:
    """Return what results say of recipes that were never made.

    Args:
        results: replicates are results of one recipe.
        smiles: of all modifiers; with fewer, or without RDKit, modifiers are mere names.
        count: how many are suggested.
        pending: recipes that are made now, or may be: not suggested.
        bounds: of every possible result.
    """
    # By content: the order in which results came decides nothing.
    results = sorted(results)
    recipes = sorted({made for made, _ in results})
    model = _Model(recipes, smiles)
    space = [
        Made(*parts)
        for parts in combinations(*(sorted(set(column)) for column in zip(*recipes, strict=True)))
    ]
    free = [made for made in space if made not in {*recipes, *pending}]
    known = [made for made in pending if model.knows(made)]
    group = np.array([recipes.index(made) for made, _ in results])
    values = np.array([value for _, value in results])
    # Each recipe counts once, however often it was made.
    weights = 1 / np.bincount(group)[group] / len(recipes)
    with _LOCK, model.seeded():
        fitted = model.fit(results)
        of_model, spread = held_back(fitted[1], group)
        of_mean = np.array([
            value - np.average(values[group != one], weights=weights[group != one])
            for one, value in zip(group, values, strict=True)
        ])  # fmt: skip
        errors = [np.bincount(group, weights * each**2) for each in (of_mean, of_model)]
        knows_more = _is_less(*errors)
        if knows_more:
            suggested = model.suggest(results, free, known, count, "qLogNEI")
            around = model.predict(fitted, [*suggested, *known])
            scaled = of_model / spread
        else:
            suggested = model.suggest(results, free, known, count, "qNIPV")
            many = len(suggested) + len(known)
            around = np.full(many, np.average(values, weights=weights)), np.ones(many)
            scaled = of_mean
    half = _quantile(len(recipes)) * np.sqrt(np.sum(weights * scaled**2)) * around[1]
    low, high = (np.clip(around[0] + side * half, *bounds) for side in (-1, 1))
    told = [
        Forecast(made, *map(float, numbers))
        for made, *numbers in zip(
            [*suggested, *known], np.clip(around[0], *bounds), low, high, strict=True
        )
    ]
    others = dict(zip(known, told[len(suggested) :], strict=True))
    return Judged(
        knows_more, float(1 - errors[1].sum() / errors[0].sum()), tuple(told[: len(suggested)]),
        tuple(others.get(made) for made in pending),
    )  # fmt: skip


def held_back(model: Any, group: Any) -> tuple[Any, Any]:
    """Return errors and standard deviations of the results of each recipe, from all other recipes.

    The parameters of the process are those of all results (Rasmussen and Williams 2006, 5.12).
    """
    import torch

    with torch.no_grad():
        model.eval()
        (inputs,), scale = model.train_inputs, model.outcome_transform.stdvs.squeeze()
        covariance = model.likelihood(model.forward(inputs)).covariance_matrix
        inverse = torch.linalg.inv(covariance)
        weighed = inverse @ (model.train_targets - model.mean_module(inputs))
        errors, spread = torch.empty_like(weighed), torch.empty_like(weighed)
        for one in set(group.tolist()):
            out = torch.from_numpy(group == one)
            block = torch.linalg.inv(inverse[out][:, out])
            errors[out], spread[out] = block @ weighed[out], block.diagonal().sqrt()
    return (errors * scale).numpy(), (spread * scale).numpy()


def _is_less(of_mean: Any, of_model: Any) -> bool:
    """Say whether the squared errors of the model are less, by a paired test over recipes."""
    from scipy.stats import ttest_1samp

    return bool(ttest_1samp(of_mean - of_model, 0, alternative="greater").pvalue < _CHANCE)


def _quantile(recipes: int) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + _COVERED) / 2, recipes - 1))


class _Model:
    """BayBE's parameters for a history, and its Gaussian process on them."""

    def __init__(self, recipes: Sequence[Made], smiles: Mapping[str, str]) -> None:
        import pandas as pd
        from baybe.parameters import (
            CategoricalParameter,
            CustomDiscreteParameter,
            NumericalDiscreteParameter,
        )
        from baybe.targets import NumericalTarget

        self._frame = pd.DataFrame
        self.parameters: list[Any] = []
        pairs, ratios, modifiers = (sorted(set(column)) for column in zip(*recipes, strict=True))
        self._known = (set(pairs), set(ratios), set(modifiers))
        # What never varied says nothing. Pairs with a metal in common are nearer.
        if len(pairs) > 1:
            metals = sorted({metal for pair in pairs for metal in pair})
            rows = [[float(metal in pair) for metal in metals] for pair in pairs]
            encoded = pd.DataFrame(rows, ["-".join(pair) for pair in pairs], metals)
            encoded = encoded.loc[:, encoded.nunique() > 1]
            self.parameters.append(
                CustomDiscreteParameter("metals", data=encoded, decorrelate=False)
            )
        if len(ratios) > 1:
            shares = [_share(ratio) for ratio in ratios]
            self.parameters.append(NumericalDiscreteParameter("ratio", shares))
        structures = encode_modifiers(modifiers, smiles)
        if structures is not None:
            self.parameters.append(
                CustomDiscreteParameter("modifier", data=structures, decorrelate=False)
            )
        elif len(modifiers) > 1:
            self.parameters.append(CategoricalParameter("modifier", modifiers))
        self.objective = NumericalTarget("result").to_objective()

    def knows(self, made: Made) -> bool:
        """Say whether each part was tried."""
        return all(part in known for part, known in zip(made, self._known, strict=True))

    def seeded(self) -> Any:
        """Return what makes BayBE's choices the same each time."""
        from baybe.settings import Settings

        return Settings(random_seed=_SEED)

    def _rows(self, recipes: Sequence[Made]) -> "pd.DataFrame":
        rows = [("-".join(one.metals), _share(one.ratio), one.modifier) for one in recipes]
        names = [one.name for one in self.parameters]
        return self._frame(rows, columns=["metals", "ratio", "modifier"])[names]

    def _space(self, recipes: Sequence[Made]) -> Any:
        from baybe.searchspace import SearchSpace

        return SearchSpace.from_dataframe(self._rows(recipes), self.parameters)

    def _measured(self, results: Sequence[tuple[Made, float]]) -> "pd.DataFrame":
        return self._rows([made for made, _ in results]).assign(result=[one for _, one in results])

    def fit(self, results: Sequence[tuple[Made, float]]) -> Any:
        """Return a Gaussian process of results, with the space in which it was fitted."""
        space = self._space([made for made, _ in results])
        fitted = _surrogate()
        fitted.fit(space, self.objective, self._measured(results))
        return space, fitted.to_botorch()

    def predict(self, fitted: Any, recipes: Sequence[Made]) -> tuple[Any, Any]:
        """Return mean and standard deviation of one new result of each recipe."""
        import torch

        space, model = fitted
        if not recipes:
            return np.empty(0), np.empty(0)
        encoded = torch.from_numpy(space.transform(self._rows(recipes)).to_numpy(dtype=float))
        with torch.no_grad():
            posterior = model.posterior(encoded, observation_noise=True)
        return posterior.mean[:, 0].detach().numpy(), posterior.variance[:, 0].sqrt().detach().numpy()

    def suggest(
        self, results: Sequence[tuple[Made, float]], free: Sequence[Made],
        pending: Sequence[Made], count: int, by: str,
    ) -> list[Made]:  # fmt: skip
        """Return the recipes to make next: the best (qLogNEI), or the most telling (qNIPV)."""
        from baybe.recommenders import BotorchRecommender

        count = min(count, len(free))
        if not count:
            return []
        recommender = BotorchRecommender(surrogate_model=_surrogate(), acquisition_function=by)
        chosen = recommender.recommend(
            count, self._space(free), self.objective, self._measured(results),
            pending_experiments=self._rows(pending) if pending else None,
        )  # fmt: skip
        return [free[index] for index in chosen.index]


def _surrogate() -> Any:
    from baybe.surrogates import GaussianProcessSurrogate

    return GaussianProcessSurrogate.from_preset(PRESET)


PRESET = "CHEN"


def _share(ratio: Fraction) -> float:
    return round(float(ratio / (1 + ratio)), 6)


def encode_modifiers(names: Sequence[str], smiles: Mapping[str, str]) -> "pd.DataFrame | None":
    """Return principal components of Morgan fingerprints; None where structures do not tell all."""
    if len(names) < 2 or not has_rdkit() or not all(name in smiles for name in names):
        return None
    import pandas as pd
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    molecules = [Chem.MolFromSmiles(smiles[name]) for name in names]
    if None in molecules:
        return None
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, includeChirality=True)
    counts = np.array([generator.GetCountFingerprintAsNumPy(one) for one in molecules], float)
    left, sizes, _ = np.linalg.svd(counts - counts.mean(axis=0), full_matrices=False)
    parts = (left * sizes)[:, : min(_COMPONENTS, len(names) - 1)].round(6)
    found = pd.DataFrame(parts, list(names), [f"c{n}" for n in range(parts.shape[1])])
    return None if found.duplicated().any() or (found.nunique() == 1).any() else found
