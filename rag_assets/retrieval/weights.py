"""Weights of the searchers: those of configs/fusion.yaml, or those that the settings name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.model import UsageError, hash_fields
from rag_assets.settings import FusionSettings
from rag_assets.workspace import configs_folder
from rag_assets.workspace.bounded_yaml import read_yaml

if TYPE_CHECKING:
    from rag_assets.publishing import PublishedModel
    from rag_assets.retrieval.reader import Reader

LEXICAL = "lexical"
# Searches by entities (`graph`), of publications that have them.
GRAPH = "graph"
# What it weighs where no weights are stated, beside the 1 that all others share.
# Chosen by benchmarks/graph_search.py (docs/evaluation.md).
GRAPH_SHARE = 0.3
FUSION_FILE = "fusion.yaml"

# Enough of a fingerprint to tell two versions of a model of one name.
_SHOWN_FINGERPRINT = 8


@dataclass(frozen=True, slots=True)
class Weights:
    """Which weights a search uses.

    Args:
        stated: by searcher, from the settings; None for those of the file.
        file: configs/fusion.yaml: `provenance` (how the rows were fitted), `fallback`, and `rows`,
            each with weights for questions and passages of one pair of languages.
        sparse: searchers that are sparse encoders.
    """

    stated: Mapping[str, float] | None
    file: Mapping[str, Any]
    sparse: frozenset[str] = frozenset()

    def of(self, question: str, passage: str, names: frozenset[str]) -> dict[str, float]:
        """Return the weights of the searchers `names`, from 0; not scaled to any sum.

        Languages are named as `Language` names them.

        1. Weights that the settings state.
        2. The row of both languages whose searchers are `names`.
        3. The row of both languages with the fewest searchers more than `names`, without those.
        4. With `graph` what the others weigh by these rules, and `GRAPH_SHARE` of their sum.
        5. With sparse encoders what the others weigh by these rules; they stand beside `lexical`
           and share its weight with it evenly.
        6. The file's fallback rule: `lexical` and the models together, which share evenly; one
           for questions in the passage's language, one for others.
        """
        if self.stated is not None:
            return {name: self.stated.get(name, 0.0) for name in names}
        if GRAPH in names and len(names) > 1:
            weights = self.of(question, passage, names - {GRAPH})
            return weights | {GRAPH: GRAPH_SHARE * sum(weights.values())}
        rows: list[dict[str, float]] = [
            row["weights"]
            for row in self.file["rows"]
            if (row["question"], row["passage"]) == (question, passage)
            and names <= row["weights"].keys()
        ]
        for row in sorted(rows, key=lambda row: (len(row), sorted(row))):
            own = {name: row[name] for name in names}
            if sum(own.values()) > 0:
                return own
        sparse = names & self.sparse
        if sparse and LEXICAL in names:
            others = self.of(question, passage, names - sparse)
            share = others[LEXICAL] / (1 + len(sparse))
            return others | dict.fromkeys((LEXICAL, *sparse), share)
        rule = self.file["fallback"]["same_language" if question == passage else "other_language"]
        share = rule["models"] / max(len(names - {LEXICAL}), 1)
        return {name: rule["lexical"] if name == LEXICAL else share for name in names}

    def provenance(self) -> dict[str, Any]:
        """Return what a pack records of them."""
        if self.stated is not None:
            return {"weights": dict(self.stated)}
        digest = hash_fields(self.file)[:16]
        return {"weights": "fitted", "file": FUSION_FILE, "digest": digest}


def load_weights(
    settings: FusionSettings, known: frozenset[str] | None, sparse: frozenset[str] = frozenset()
) -> Weights:
    """Return the weights that the settings name.

    Args:
        settings: `weights`: `fitted`, or a number by searcher.
        known: searchers of the publications that are asked, even such as sit this question out;
            None where words alone are searched, so that weights decide nothing.
        sparse: those of `known` that are sparse encoders.

    Raises:
        UsageError: the settings weigh a searcher that is not `known`, or none that is.
    """
    path = configs_folder() / FUSION_FILE
    file = _read(path, path.stat().st_mtime_ns)
    if settings.weights == "fitted":
        return Weights(None, file, sparse)
    if known is None:
        return Weights(settings.weights, file)
    strange = sorted(set(settings.weights) - known)
    if strange:
        raise UsageError(
            f"'retrieve.fusion.weights' names '{strange[0]}', which is no searcher here. "
            f"Searchers: {', '.join(sorted(known))}."
        )
    if not any(weight > 0 for weight in settings.weights.values()):
        raise UsageError(
            "'retrieve.fusion.weights' must give at least one searcher a weight above 0. "
            f"Searchers: {', '.join(sorted(known))}."
        )
    return Weights(settings.weights, file)


@lru_cache(maxsize=4)
def _read(path: Path, _modified: int) -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_yaml(path)
    return found


def searcher_names(readers: "Sequence[Reader]") -> dict[str, str]:
    """Return the searcher's name of each model by its fingerprint.

    That is the model's name; where publications hold different versions of it, with the first
    digits of the fingerprint.
    """
    named = {model.fingerprint: model.name for reader in readers for model in reader.models}
    names = list(named.values())
    return {
        fingerprint: name
        if names.count(name) == 1
        else f"{name}@{fingerprint[:_SHOWN_FINGERPRINT]}"
        for fingerprint, name in named.items()
    }


def known_searchers(readers: "Sequence[Reader]") -> frozenset[str]:
    """Return the names that stated weights may have."""
    graph = [GRAPH] if any(reader.entity_graph is not None for reader in readers) else []
    return frozenset({LEXICAL, *searcher_names(readers).values(), *graph})


def sparse_names(readers: "Sequence[Reader]") -> frozenset[str]:
    """Return the names (`searcher_names`) of sparse encoders."""
    sparse = {model.fingerprint for reader in readers for model in reader.models if model.is_sparse}
    return frozenset(name for key, name in searcher_names(readers).items() if key in sparse)


def models_asked(reader: "Reader", method: str) -> "list[PublishedModel]":
    """Return the models that a method asks: sparse encoders are no part of `semantic`.

    One that has not looked at any passage yet has nothing to be compared with.
    """
    return [
        model
        for model in reader.models
        if not model.is_empty and (method != "semantic" or not model.is_sparse)
    ]
