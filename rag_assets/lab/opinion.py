"""A second opinion: what past experiments expect of recipes, and which to make next (BayBE).

The search space is what the history holds: its pairs of metals, ratios and modifiers, in every
combination. A Gaussian process of BayBE is believed only where, on results held back, its errors
are smaller than those of the mean; intervals come from the errors on results held back, so that
they hold what they claim. `python -m benchmarks.lab_opinion` measures both.
"""

import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib.util import find_spec
from itertools import product as combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rag_assets.lab.acids import acid_of, acids
from rag_assets.lab.chemistry import has_rdkit
from rag_assets.lab.feedback import list_feedback
from rag_assets.lab.laboratory import Laboratory
from rag_assets.lab.products import find_product
from rag_assets.lab.runs import Recipe, list_runs
from rag_assets.llm.services import missing_extra
from rag_assets.model import UsageError, count_of

if TYPE_CHECKING:
    import pandas as pd

By = Literal["fraction", "value", "score"]
# By `python -m benchmarks.lab_opinion`: with 8 recipes intervals that the model narrows hold too
# little, with 12 they hold what they claim.
FEWEST_RECIPES = 12
# Of the test that the model's errors are smaller than those of the mean: on noise it passes in
# one history of fifty.
_CHANCE = 0.02
# So many recipes' worth of errors the parameters of the process hide, since they are fitted to
# what is held back, too.
_FITTED = 3
_COVERED = 0.95
_SEED = 1
_COMPONENTS = 3
# BayBE's random state is the process's: a desk has several threads.
_LOCK = threading.Lock()


class Made(NamedTuple):
    """What of a recipe is varied.

    Args:
        metals: in the order of the alphabet.
        ratio: atoms of the first for one of the second.
        modifier: the one name by which it is called.
    """

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
    """What one new experiment is expected to give; 95 of 100 are from `low` to `high`."""

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
    with _LOCK, warnings.catch_warnings(), model.seeded():
        # Of a jitter of 1e-8 on a matrix; one that no jitter mends is an error.
        warnings.filterwarnings("ignore", ".*added jitter")
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
            scaled = of_model / spread * np.sqrt(len(recipes) / (len(recipes) - _FITTED))
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
        posterior = model.posterior(encoded, observation_noise=True)
        mean, variance = posterior.mean.detach().numpy(), posterior.variance.detach().numpy()
        return mean[:, 0], np.sqrt(variance[:, 0])

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

    # Of the presets, the one that claims least on noise and takes least time.
    return GaussianProcessSurrogate.from_preset("CHEN")


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


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the history of a laboratory says of one aim, which is to be as high as possible.

    Args:
        results: that count; of `recipes` different recipes.
        made_otherwise: results left out, since another recipe was made than is written.
        other_products: fractions left out, since they are shares of another set of products.
        is_structural: whether modifiers are compared by structure, else by name alone.
        judged: None where there are not enough data.
        pending: run, rank and recipe without feedback, as the literature or a model proposed it,
            with its forecast; None where a part was never tried here.
    """

    product: str | None
    by: By
    results: int
    recipes: int
    made_otherwise: int
    other_products: int
    is_structural: bool
    judged: Judged | None
    pending: tuple[tuple[str, int, Made, Forecast | None], ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        plain = asdict(self) | {"enough_from": FEWEST_RECIPES}
        plain["pending"] = [
            {"run": run, "rank": rank, **_plain(made, forecast)}
            for run, rank, made, forecast in self.pending
        ]
        if self.judged is not None:
            plain["judged"] = {
                "knows_more": self.judged.knows_more, "explained": self.judged.explained,
                "suggested": [_plain(one.made, one) for one in self.judged.suggested],
            }  # fmt: skip
        return plain


def _plain(made: Made, forecast: Forecast | None) -> dict[str, Any]:
    (first, second), ratio, modifier = made
    recipe = {"M1": first, "M2": second, "modifier": modifier,
              "atomic_ratio": f"{ratio.numerator}:{ratio.denominator}"}  # fmt: skip
    numbers = None
    if forecast is not None:
        numbers = {key: getattr(forecast, key) for key in ("expected", "low", "high")}
    return {**recipe, "forecast": numbers}


def form_opinion(lab: Laboratory, *, product: str | None, by: By, count: int) -> Opinion:
    """Return what past experiments say, and the next ones to make.

    Args:
        product: by name; None where `by` is the score.
        count: how many experiments are suggested.

    Raises:
        ConfigurationError: BayBE is not installed.
        UsageError: there is no such product, or none is named.
    """
    if find_spec("baybe") is None:
        raise missing_extra("bo", "the second opinion (BayBE)")
    if by != "score" and product is None:
        raise UsageError(f"'by: {by}' needs a product: --product NAME.")
    smiles = {name.casefold(): one for name, one in acids().structures.items()}
    with lab.store.reading() as reading:
        runs = {run.id: run for run, _ in list_runs(reading, "done")}
        given = list_feedback(reading)
        wanted = find_product(reading, product) if product and by != "score" else None
    recipes = {one.run_id: runs[one.run_id].recipes[one.recipe_index - 1] for one in given}
    for run in runs.values():
        for recipe in run.recipes:
            modifier = recipe.small_molecule_modifier
            if modifier.smiles:
                smiles.setdefault(_name(modifier.name), modifier.smiles)
    measured = [one for one in given if wanted is None or one.entry.find(wanted.id)]
    as_written = [one for one in measured if not one.as_made]
    used = as_written
    if by == "fraction" and as_written:
        # A share of one set of products says nothing of a share of another.
        (common, _), *_ = Counter(one.signature for one in as_written).most_common()
        used = [one for one in as_written if one.signature == common]
    results = [
        (made_of(recipes[one.run_id]), one.score if wanted is None else
         float(getattr(one.entry.find(wanted.id), by)))
        for one in used
    ]  # fmt: skip
    done = {made for made, _ in results}
    pending = [
        (run.id, recipe.rank, made_of(recipe))
        for run in runs.values() if run.id not in recipes and run.kind != "imported"
        for recipe in run.recipes if made_of(recipe) not in done
    ]  # fmt: skip
    judged = None
    # Where all are equal, no error is less than another.
    if len(done) >= FEWEST_RECIPES and len({value for _, value in results}) > 1:
        judged = judge_history(
            results, smiles, count=count, pending=[made for *_, made in pending],
            bounds=_BOUNDS[by],
        )  # fmt: skip
    modifiers = sorted({made.modifier for made in done})
    return Opinion(
        wanted.name if wanted else None, by, len(results), len(done),
        len(measured) - len(as_written), len(as_written) - len(used),
        encode_modifiers(modifiers, smiles) is not None, judged,
        tuple((*one, judged.others[n] if judged else None) for n, one in enumerate(pending)),
    )  # fmt: skip


def opinion_lines(opinion: Opinion) -> Iterator[str]:
    """Yield an opinion as lines for a terminal."""
    aim = "score" if opinion.product is None else f"{opinion.by} of {opinion.product}"
    recipes = count_of(opinion.recipes, "different recipe")
    yield f"{aim}: {count_of(opinion.results, 'result')} of {recipes}"
    if opinion.made_otherwise:
        yield f"left out: {opinion.made_otherwise} made otherwise than the recipe says"
    if opinion.other_products:
        yield f"left out: {opinion.other_products} with other products (fractions differ)"
    if opinion.judged is None:
        yield f"not enough data: results of at least {FEWEST_RECIPES} different recipes are needed"
    else:
        by = "structure" if opinion.is_structural else "name alone"
        yield f"modifiers are compared by {by}"
        yield (
            "recipes tell more than the mean: on results held back, the squared error is "
            f"{opinion.judged.explained:.0%} less"
            if opinion.judged.knows_more
            else "recipes do not tell more than the mean: it is expected of each, and the "
            "suggestions are those that would teach most"
        )
        yield "next experiments, each with what 95 of 100 would give:"
        for one in opinion.judged.suggested:
            yield f"  {_told(one.made, one)}"
        if not opinion.judged.suggested:
            yield "  none: every combination of what was tried was made or is proposed"
    if opinion.pending:
        yield "proposed by runs, without feedback:"
    for run, rank, made, forecast in opinion.pending:
        yield f"  run {run}, recipe {rank}: {_told(made, forecast)}"


def _told(made: Made, forecast: Forecast | None) -> str:
    if forecast is None:
        return f"{made.shown}: no opinion"
    return f"{made.shown}: {forecast.expected:.3g} ({forecast.low:.3g} to {forecast.high:.3g})"


_BOUNDS: dict[By, tuple[float, float]] = {
    "fraction": (0, 1), "value": (0, np.inf), "score": (-np.inf, np.inf),
}  # fmt: skip


def made_of(recipe: Recipe) -> Made:
    """Return what is varied of a recipe."""
    first, second = recipe.atomic_ratio.split(":")
    metals, ratio = (recipe.M1, recipe.M2), Fraction(first) / Fraction(second)
    if recipe.M1 > recipe.M2:
        metals, ratio = metals[::-1], 1 / ratio
    return Made(metals, ratio, _name(recipe.small_molecule_modifier.name))


def _name(modifier: str) -> str:
    return (acid_of(modifier) or " ".join(modifier.split())).casefold()
