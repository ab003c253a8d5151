"""One configuration object with the names of the knowledge library (spec 001), as our settings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, TypeVar  # Any: values before pydantic checks them

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from rag_assets.model import ConfigurationError, RagError, require_text
from rag_assets.model.settings import (
    ChunkMode,
    ChunkSettings,
    Count,
    InjectSettings,
    Normalization,
    PreprocessRule,
    RetrieveSettings,
    ScoreMode,
    Share,
)
from rag_assets.workspace import Namespace

_Settings = TypeVar("_Settings", bound=BaseModel)
# A key of the namespace's `retrieve:` in a sentence.
_KEY = re.compile(r"\bretrieve\.([a-z_]+(?:\.\w+)*)")
_PROVIDERS = {"openai": "openai_compatible"}


class Part(BaseModel):
    """A part of a configuration: what is set, checked; an unknown key is a ConfigurationError."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigurationError(_explain(type(self).__name__, error)) from error

    def changes(self) -> dict[str, Any]:
        """Return what was set, under the names of our settings."""
        return self.model_dump(exclude_unset=True)


class EmbeddingConfig(Part):
    """The model that turns text into vectors. A key is named by its variable, never given here."""

    provider: Literal[
        "bundled", "sentence_transformers", "openai", "openai_compatible", "vertex", "hashing"
    ]
    model: str = Field(min_length=1)
    base_url: str | None = None
    dimension: Count | None = None
    api_key_variable: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_key(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and values.get("api_key"):
            raise ValueError(
                "'api_key' is a secret: write it into the environment or the workspace's .env, "
                "and give the variable's name as 'api_key_variable'"
            )
        return values

    def changes(self) -> dict[str, Any]:
        """Return the model as one of `embed.models`."""
        values = self.model_dump(exclude_unset=True)
        provider = values.pop("provider")
        return {"kind": _PROVIDERS.get(provider, provider), **values}


class SparseEmbeddingConfig(Part):
    """The sparse encoder that stands beside BM25 (`sparse_embedder`).

    Args:
        model: a folder, or a name of the hub that was downloaded before.
        dimension: the largest weights that are kept of each vector; all without.
    """

    provider: Literal["sparse_encoder"] = "sparse_encoder"
    model: str = Field(min_length=1)
    dimension: Count | None = None
    device: str | None = None

    def changes(self) -> dict[str, Any]:
        """Return the model as one of `embed.models`."""
        values = self.model_dump(exclude_unset=True, exclude={"provider"})
        return {"kind": self.provider, **values}


class VectorStoreConfig(Part):
    """Where everything is kept: a workspace folder, made by the first `ingest`."""

    type: Literal["lance"] = "lance"
    path: str | Path

    @field_validator("path")
    @classmethod
    def _is_a_path(cls, path: str | Path) -> str | Path:
        if "\0" in require_text(str(path), "it"):
            raise ValueError("it holds U+0000, which no path does")
        return path


class BaseConfig(Part):
    """What a namespace stands on."""

    embedding: EmbeddingConfig | None = None
    sparse_embedding: SparseEmbeddingConfig | None = None
    vector_store: VectorStoreConfig | None = None


class GeneralConfig(Part):
    """Mode `general`. An overlap below 1 is a share, from 1 tokens."""

    delimiter: str = "\n\n"
    max_tokens: int = 300
    overlap: float | int = 0.0


class ParentConfig(Part):
    """What is shown around a chunk."""

    mode: Literal["page", "section", "document"] = "page"
    max_tokens: int = 1000


class ChildConfig(Part):
    """What is searched; sizes in tokens. Where one is set, those that must be smaller follow it."""

    target_tokens: int = 200
    min_tokens: int = 80
    max_tokens: int = 300
    overlap: float = 0.0

    def changes(self) -> dict[str, Any]:
        """Return what was set, and what cannot stay as large beside it."""
        values = self.model_dump(exclude_unset=True)
        for larger, smaller in (("max_tokens", "target_tokens"), ("target_tokens", "min_tokens")):
            if larger in values and getattr(self, smaller) > values[larger]:
                values.setdefault(smaller, values[larger])
        return values


class ParentChildConfig(Part):
    """Mode `parent_child`."""

    parent: ParentConfig | None = None
    child: ChildConfig | None = None


class ChunkConfig(Part):
    """How documents are cut. What is not set the namespace's `chunk:` decides."""

    mode: ChunkMode = "parent_child"
    preprocess: list[PreprocessRule] = []
    context: Literal["headings", "none"] = "none"
    general: GeneralConfig | None = None
    parent_child: ParentChildConfig | None = None

    def changes(self) -> dict[str, Any]:
        """Return what was set, under the names of `chunk:`."""
        values = self.model_dump(exclude_unset=True, exclude={"general", "parent_child"})
        if self.general is not None:
            general = self.general.changes()
            overlap = general.get("overlap", 0)
            if overlap >= 1:
                general["overlap"] = overlap / self.general.max_tokens
            values["general"] = general
        both = self.parent_child
        if both is not None and both.child is not None:
            values |= both.child.changes()
        if both is not None and both.parent is not None:
            names = {"mode": "parents", "max_tokens": "parent_tokens"}
            values |= {names[key]: value for key, value in both.parent.changes().items()}
        return values


class TuningConfig(Part):
    """Sizes of the pools."""

    pool_k: Count = 50
    rerank_k: Count = 50
    rrf_k: Count = 60


class QualityConfig(Part):
    """Which of the ranked hits are kept."""

    dedupe: bool = True
    dedupe_threshold: Share = 0.97
    max_per_document: Count | None = None


class InjectConfig(Part):
    """How hits become the context of a language model."""

    mode: Literal["parent", "chunk", "window"] = "parent"
    max_tokens: Count = 4000
    max_chunks: Count = 10
    format: Literal["markdown", "xml", "json"] = "markdown"


class RerankConfig(Part):
    """How the fused candidates are judged once more."""

    mode: Literal["off", "model", "weighted"] = "off"
    provider: Literal["bundled", "cross_encoder", "http", "vertex"] = "bundled"
    model: str = "reranker-en"
    top_n: Count | None = None
    score_threshold: float | None = None
    score_mode: ScoreMode = "rank"
    normalize: Normalization = "min_max"
    params: dict[str, Any] = {}


class RetrieveConfig(Part):
    """How a question is searched. What is not set the namespace's `retrieve:` decides."""

    method: Literal["semantic", "lexical", "hybrid"] = "hybrid"
    top_k: Count = 10
    score_threshold: float | None = None
    window: int = 0
    fusion: dict[str, Any] = {}
    rerank: RerankConfig | None = None
    tuning: TuningConfig | None = None
    quality: QualityConfig | None = None
    inject: InjectConfig | None = None

    def changes(self) -> dict[str, Any]:
        """Return what was set, under the names of `retrieve:`."""
        values = self.model_dump(exclude_unset=True)
        values |= values.pop("tuning", None) or {}
        if "rerank" in values and values["rerank"] is None:
            values["rerank"] = {"mode": "off"}
        return {
            key: value
            for key, value in values.items()
            if value is not None or key == "score_threshold"
        }


# As spec 001 calls it among the runtime models.
RetrievalConfig = RetrieveConfig


class KnowledgeConfig(Part):
    """What the library is told, with the names of spec 001.

    Only what is set here changes something; the rest comes from the namespace's own settings.
    Parts may be given as mappings. Where `base_config.vector_store` is not given, the workspace is
    found as the commands find it.

    Raises:
        ConfigurationError: an unknown key or a value that its rule refuses.
    """

    base_config: BaseConfig = BaseConfig()
    chunk_config: ChunkConfig = ChunkConfig()
    retrieve_config: RetrieveConfig = RetrieveConfig()

    # Written out for type checkers, which would take the parts for objects alone.
    def __init__(
        self,
        *,
        base_config: BaseConfig | Mapping[str, Any] | None = None,
        chunk_config: ChunkConfig | Mapping[str, Any] | None = None,
        retrieve_config: RetrieveConfig | Mapping[str, Any] | None = None,
        **unknown: Any,
    ) -> None:
        parts = {
            "base_config": base_config,
            "chunk_config": chunk_config,
            "retrieve_config": retrieve_config,
        }
        given = {name: part for name, part in parts.items() if part is not None}
        super().__init__(**given, **unknown)

    @property
    def place(self) -> Path | None:
        """The workspace folder that is named, None where it is to be found."""
        store = self.base_config.vector_store
        return Path(store.path) if store is not None else None


_PartOf = TypeVar("_PartOf", bound=Part)


def part_of(kind: type[_PartOf], given: object, name: str) -> _PartOf:
    """Return a part that is given as such or as a mapping; without any, one that sets nothing.

    Args:
        name: of the argument, for the error.

    Raises:
        ConfigurationError: it is something else, names an unknown key, or a value is refused.
    """
    if isinstance(given, kind):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise ConfigurationError(
            f"'{name}' is {type(given).__name__}: give {kind.__name__}(…) or a mapping."
        )
    return kind(**{str(key): value for key, value in (given or {}).items()})


def search_part(given: object) -> "KnowledgeConfig | RetrieveConfig":
    """Return `knowledge`: a whole configuration or the part of it that searches, or a mapping."""
    if isinstance(given, RetrieveConfig):
        return given
    is_part = isinstance(given, Mapping) and not given.keys() & KnowledgeConfig.model_fields.keys()
    if is_part:
        return part_of(RetrieveConfig, given, "knowledge")
    return part_of(KnowledgeConfig, given, "knowledge")


def with_sparse_embedder(
    config: KnowledgeConfig, sparse: SparseEmbeddingConfig | Mapping[str, Any] | None
) -> KnowledgeConfig:
    """Return a configuration whose sparse encoder is `sparse`; as it is for None.

    Raises:
        ConfigurationError: it names another one already, or an unknown key.
    """
    if sparse is None:
        return config
    part = part_of(SparseEmbeddingConfig, sparse, "sparse_embedder")
    named = config.base_config.sparse_embedding
    if named not in {None, part}:
        raise ConfigurationError(
            f"'sparse_embedder' is {part.model!r}, but base_config.sparse_embedding names "
            f"{named.model!r}. Leave one of them out."
        )
    base = config.base_config.model_copy(update={"sparse_embedding": part})
    return config.model_copy(update={"base_config": base})


def laid_over(settings: _Settings, changes: Mapping[str, Any], name: str) -> _Settings:
    """Return settings with some of their keys changed.

    Args:
        name: of the part, for the error.

    Raises:
        ConfigurationError: the result breaks a rule.
    """
    try:
        return type(settings).model_validate(_merged(settings.model_dump(), changes))
    except ValidationError as error:
        raise ConfigurationError(_explain(name, error)) from error


def retrieve_settings(
    base: RetrieveSettings, *configs: KnowledgeConfig | RetrieveConfig
) -> RetrieveSettings:
    """Return search settings with configurations laid over them, the last one winning."""
    for config in configs:
        part = config.retrieve_config if isinstance(config, KnowledgeConfig) else config
        base = laid_over(base, part.changes(), "retrieve_config")
    return base


def search_layer(config: KnowledgeConfig | RetrieveConfig) -> tuple[str, dict[str, Any]]:
    """Return the search settings that a caller wrote, and below which name."""
    if isinstance(config, KnowledgeConfig):
        return "retrieve_config", config.retrieve_config.model_dump(exclude_unset=True)
    return "knowledge", config.model_dump(exclude_unset=True)


def as_written(text: str, layers: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return a sentence that names keys of `retrieve:` with the keys that the caller wrote.

    A key that is in no layer is the namespace's, and stays.

    Args:
        layers: of `search_layer`, the last winning.
    """

    def written(match: re.Match[str]) -> str:
        keys = match[1].split(".")
        if keys[0] in TuningConfig.model_fields:
            keys = ["tuning", *keys]
        found = [(_depth(values, keys), name) for name, values in reversed(layers)]
        depth, name = max(found, key=itemgetter(0))
        return ".".join([name, *keys]) if depth > (keys[0] == "tuning") else match[0]

    return _KEY.sub(written, text)


def _depth(values: object, keys: Sequence[str]) -> int:
    """Return how many of some keys, each within the one before, are there."""
    if not keys or not isinstance(values, Mapping) or keys[0] not in values:
        return 0
    return 1 + _depth(values[keys[0]], keys[1:])


@contextmanager
def naming_keys(layers: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[None]:
    """Let errors name the keys that the caller wrote; see `as_written`."""
    try:
        yield
    except RagError as error:
        error.args = tuple(
            as_written(part, layers) if isinstance(part, str) else part for part in error.args
        )
        raise


def chunk_settings(base: ChunkSettings, config: ChunkConfig) -> ChunkSettings:
    """Return chunk settings with a configuration laid over them."""
    return laid_over(base, config.changes(), "chunk_config")


def inject_settings(base: InjectSettings, config: InjectConfig) -> InjectSettings:
    """Return inject settings with a configuration laid over them."""
    return laid_over(base, config.changes(), "inject")


def refuse_other_build(namespace: Namespace, config: KnowledgeConfig) -> None:
    """Refuse a configuration that would build the namespace otherwise than its file says.

    Raises:
        ConfigurationError: names the keys that differ; a library is cut and encoded in one way.
    """
    file = namespace.workspace.namespace_file(namespace.name)
    own = namespace.settings.chunk.model_dump()
    wanted = chunk_settings(namespace.settings.chunk, config.chunk_config).model_dump()
    differing = [f"chunk.{key}: {wanted[key]!r}" for key in wanted if wanted[key] != own[key]]
    base, embed = config.base_config, namespace.settings.embed
    sparse = [model for model in embed.models if model.is_sparse]
    for part, models in ((base.embedding, embed.dense), (base.sparse_embedding, sparse)):
        if part is not None:
            asked, held = part.changes(), [model.model_dump() for model in models]
            if len(held) != 1 or any(held[0][key] != value for key, value in asked.items()):
                differing.append(f"embed.models: [{asked!r}]")
    if differing:
        raise ConfigurationError(
            f"namespace '{namespace.name}' is built otherwise than this configuration says "
            f"({'; '.join(differing)}). Write it into {file} and run `rag ingest`, or leave it "
            "out of the configuration."
        )


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        nested = isinstance(value, Mapping) and isinstance(old, dict)
        merged[key] = _merged(old, value) if nested and isinstance(old, dict) else value
    return merged


def _explain(name: str, error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"]) or "it"
    inner = first.get("ctx", {}).get("error")
    if isinstance(inner, ConfigurationError):
        # A part within the part has said which key; put the way to it before.
        said = str(inner).partition(": '")[2]
        return f"{name}: '{key}.{said}"
    rule = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        rule = "unknown key"
    elif first["type"] != "value_error":
        rule = f"{rule[:1].lower()}{rule[1:]}, got {first['input']!r}"
    return f"{name}: '{key}': {rule}."
