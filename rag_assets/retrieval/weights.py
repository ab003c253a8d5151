"""Weights of the searchers: those of configs/fusion.yaml, or those that the settings name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_assets.model import ConfigurationError, UsageError, hash_fields
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

_Weight = Annotated[float, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class RuleWeights(_Part):
    """Weights where no row fits: the words', and the one that all models share evenly."""

    lexical: _Weight
    models: _Weight


class Fallback(_Part):
    """The rule where no row fits."""

    same_language: RuleWeights
    other_language: RuleWeights


class Row(_Part):
    """Fitted weights of one set of searchers for one pair of languages."""

    question: Literal["zh", "en", "other"]
    passage: Literal["zh", "en", "other"]
    weights: dict[str, _Weight]


class FusionFile(_Part):
    """configs/fusion.yaml.

    Args:
        provenance: how the rows were fitted: script, data, figures; not looked at, but shown.
        rows: each set of searchers at most once for a pair of languages.
    """

    provenance: dict[str, Any]
    fallback: Fallback
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Weights:
    """Which weights a search uses.

    Args:
        stated: by searcher, from the settings; None for those of the file.
        file: configs/fusion.yaml.
        sparse: searchers that are sparse encoders.
    """

    stated: Mapping[str, float] | None
    file: FusionFile
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
        rows = [
            row
            for row in self.file.rows
            if row.question == question and row.passage == passage and names <= row.weights.keys()
        ]
        for row in sorted(rows, key=lambda row: (len(row.weights), sorted(row.weights))):
            own = {name: row.weights[name] for name in names}
            if sum(own.values()) > 0:
                return own
        sparse = names & self.sparse
        if sparse and LEXICAL in names:
            others = self.of(question, passage, names - sparse)
            share = others[LEXICAL] / (1 + len(sparse))
            return others | dict.fromkeys((LEXICAL, *sparse), share)
        fallback = self.file.fallback
        rule = fallback.same_language if question == passage else fallback.other_language
        models = len(names - {LEXICAL})
        return {name: rule.lexical if name == LEXICAL else rule.models / models for name in names}

    def provenance(self) -> dict[str, Any]:
        """Return what a pack records of them."""
        if self.stated is not None:
            return {"weights": dict(self.stated)}
        digest = hash_fields(self.file.model_dump(mode="json"))[:16]
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
        ConfigurationError: configs/fusion.yaml is not what it should be.
    """
    file = read_fusion_file(configs_folder() / FUSION_FILE)
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


def read_fusion_file(path: Path) -> FusionFile:
    """Return a file of fitted weights; read again only when it changed.

    Raises:
        ConfigurationError: names file, key and rule.
    """
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read(path: Path, _modified: int) -> FusionFile:
    try:
        file = FusionFile.model_validate(read_yaml(path))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise ConfigurationError(
            f"{path}: '{key}': {first['msg'].lower()}, got {first['input']!r}."
        ) from error
    seen = set()
    for row in file.rows:
        kind = (row.question, row.passage, frozenset(row.weights))
        if kind in seen:
            raise ConfigurationError(
                f"{path}: two rows weigh {', '.join(sorted(row.weights))} for question "
                f"{row.question}, passage {row.passage}. Keep one."
            )
        seen.add(kind)
        if not sum(row.weights.values()) > 0:
            raise ConfigurationError(
                f"{path}: the row of question {row.question}, passage {row.passage} and "
                f"{', '.join(sorted(row.weights))} must give one searcher a weight above 0."
            )
    return file


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
