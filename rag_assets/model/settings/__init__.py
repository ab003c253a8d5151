"""Configuration models. Their defaults live once, in configs/rag.yaml."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError
from rapidfuzz import fuzz, process

from rag_assets.model.settings.section import CALLED_RULES as CALLED_RULES
from rag_assets.model.settings.section import AuditSettings as AuditSettings
from rag_assets.model.settings.section import Count as Count
from rag_assets.model.settings.section import DeskSettings as DeskSettings
from rag_assets.model.settings.section import Expression as Expression
from rag_assets.model.settings.section import GraphSettings, Off, Section
from rag_assets.model.settings.section import LabSettings as LabSettings
from rag_assets.model.settings.section import ReaderSettings as ReaderSettings
from rag_assets.model.settings.section import RecipeRule as RecipeRule
from rag_assets.model.settings.section import ScorerName as ScorerName
from rag_assets.model.settings.section import Share as Share
from rag_assets.model.settings.section import VerifySettings as VerifySettings

# What the shipped places are called (`places` in configs/rag.yaml).
_PLACE_NAMES = (
    "evidence", "instruction", "unsorted", "guidance", "feedback", "slides", "exemplars",
)  # fmt: skip
_TYPO = 80  # a name is one from here, on rapidfuzz's scale to 100: evidenz for evidence is 80

_Url = Annotated[str, Field(pattern=r"^https?://")]
_Variable = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")]


class PlaceSettings(Section):
    """What a file is because of where it lies."""

    source_type: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    source_subtype: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]*$")
    citable: bool

    @field_validator("source_type", "source_subtype")
    @classmethod
    def _refuse_near_names(cls, value: str | None) -> str | None:
        """A type of one's own is taken; one that is all but a shipped name is a typo of it, which
        filters and briefs would pass over.
        """
        alike = process.extractOne(value or "", _PLACE_NAMES, score_cutoff=_TYPO, scorer=fuzz.ratio)
        if value in _PLACE_NAMES or alike is None:
            return value
        raise PydanticCustomError(
            "near_name",
            "did you mean '{meant}'? ({names}; a type of your own must not look like one of them)",
            {"meant": alike[0], "names": ", ".join(_PLACE_NAMES)},
        )


class MineruSettings(Section):
    """The cloud service MinerU: its limits, and how patient we are with it."""

    # The service's limits: files of one request for upload places, pages and megabytes of a file.
    batch_files: ClassVar[int] = 200
    max_pages: ClassVar[int] = 600
    max_megabytes: ClassVar[int] = 200
    # Pages of a part of a longer document; halved while the part is too large (spec 000).
    part_pages: ClassVar[int] = 500
    # Tries of one call, with a wait before the second of so long at most, doubled for each further.
    attempts: ClassVar[int] = 5
    backoff_seconds: ClassVar[float] = 1.0
    # Between two questions whether a batch is done, and after which it is given up.
    poll_seconds: ClassVar[float] = 5.0
    wait_seconds: ClassVar[float] = 3600.0

    url: _Url
    model_version: str = Field(min_length=1)


class ParseSettings(Section):
    """Limits and rules of parsing. Limits of time and memory do not change what a parse returns."""

    # How often a time-out or memory failure is tried in all.
    max_attempts: ClassVar[int] = 3
    # Dots per inch of a page that is read by OCR, and what each adds to `seconds_per_document`: a
    # full page of Chinese takes 17 s of processor time.
    ocr_dpi: ClassVar[int] = 200
    ocr_seconds_per_page: ClassVar[float] = 60.0

    workers: int = Field(ge=0, le=256)
    seconds_per_document: float = Field(gt=0)
    megabytes_of_memory: int = Field(ge=256)
    max_pages: Count
    max_megabytes: Count
    repeated_line_share: Share
    parser: Literal["pymupdf", "mineru"]
    ocr: Literal["none", "auto", "rapidocr", "tesseract"]
    ocr_languages: str = Field(pattern=r"^\w+(\+\w+)*$")
    mineru: MineruSettings
    parser_options: dict[str, dict[str, bool | int | float | str]]


class GeneralChunkSettings(Section):
    """Pieces between delimiters, joined up to a size."""

    delimiter: str = Field(min_length=1)
    max_tokens: int = Field(ge=16)
    overlap: float = Field(ge=0, le=0.5)


ChunkMode = Literal["parent_child", "general", "qa", "law"]  # as in `chunking/modes.py`
PreprocessRule = Literal["attachments", "citation_marks", "emails", "urls", "white_space"]


class LawChunkSettings(Section):
    """How statutes are cut, in characters."""

    soft_limit: int = Field(ge=200)
    search_unit: Literal["article", "merged"]
    fallback: Annotated[list[Annotated[int, Field(ge=50)]], Field(min_length=2, max_length=2)]

    @field_validator("fallback")
    @classmethod
    def _ordered(cls, value: list[int]) -> list[int]:
        if value[0] > value[1]:
            raise ValueError("the first of 'fallback' is the least, the second the most")
        return value


class ChunkSettings(Section):
    """Sizes in tokens of the embedding model's tokenizer."""

    mode: ChunkMode
    target_tokens: int = Field(ge=8)
    min_tokens: Count
    max_tokens: int = Field(ge=16)
    overlap: float = Field(ge=0, le=0.1)
    parents: Literal["page", "section", "document"]
    parent_tokens: int = Field(ge=16)
    context: Literal["headings", "none"]
    preprocess: list[PreprocessRule]
    general: GeneralChunkSettings
    law: LawChunkSettings


class ModelSettings(Section):
    """One embedding model and how it is asked. What is None the model itself decides."""

    kind: Literal[
        "bundled", "sentence_transformers", "sparse_encoder", "openai_compatible", "vertex",
        "hashing",
    ]  # fmt: skip
    model: str = Field(min_length=1)
    device: str = "auto"
    dtype: Literal["int8", "float32", "float16", "bfloat16"] = "float32"
    batch_tokens: Count = 4096
    query_prompt: str | None = None
    passage_prompt: str | None = None
    dimension: Count | None = None
    max_tokens: Annotated[int, Field(ge=16)] | None = None
    tokenizer: str | None = None
    base_url: _Url | None = None
    api_key_variable: _Variable | None = None
    project: str | None = None
    location: str | None = None
    batch_texts: Count = 64
    concurrency: Count = 4
    attempts: Count = 6
    backoff_seconds: float = Field(default=1.0, ge=0)
    timeout_seconds: float = Field(default=60.0, gt=0)

    @property
    def is_sparse(self) -> bool:
        """Whether its vectors are weights of words (spec 001, `sparse_embedder`)."""
        return self.kind == "sparse_encoder"


# How fast and how patiently a model is asked; what it answers does not depend on them.
_MODEL_RUN_FIELDS = {
    "device", "batch_tokens", "batch_texts", "concurrency", "attempts", "backoff_seconds",
    "timeout_seconds",
}  # fmt: skip


def deciding_fields(model: ModelSettings) -> dict[str, Any]:
    """Return the settings of a model that may change a vector, as plain values."""
    return model.model_dump(mode="json", exclude=_MODEL_RUN_FIELDS)


class EmbedSettings(Section):
    """Which models turn text into vectors; each gives every chunk a vector of its own."""

    models: Annotated[list[ModelSettings], Field(min_length=1, max_length=8)]

    @property
    def dense(self) -> list[ModelSettings]:
        """The models that are no sparse encoders, in their order."""
        return [model for model in self.models if not model.is_sparse]


class Keeping:
    """What is kept, and for how long."""

    # Publications besides pinned ones and those that were superseded within so many hours, so that
    # their readers can go on.
    publications: ClassVar[int] = 3
    hours: ClassVar[float] = 24.0
    # Rows of removed files, so that restoring one costs nothing.
    removed_days: ClassVar[float] = 30.0


ScoreMode = Literal["rank", "normalize", "raw"]
Normalization = Literal["min_max", "sigmoid", "softmax", "zscore"]


class FusionSettings(Section):
    """How the searchers' candidates become one ranking."""

    kind: Literal["weighted", "rrf"]
    weights: Literal["fitted"] | dict[str, Annotated[float, Field(ge=0)]]


class TextSettings(Section):
    """How the text search counts what stands in headings, and terms that are exact."""

    heading_weight: float = Field(ge=0, le=10)
    phrase_boost: float = Field(ge=0, le=10)


class RerankSettings(Section):
    """How the fused candidates are judged once more (spec 001)."""

    mode: Annotated[Literal["off", "model", "weighted"], Off]
    provider: Literal["bundled", "cross_encoder", "http", "vertex"]
    model: str = Field(min_length=1)
    top_n: Count | None
    score_threshold: float | None
    score_mode: ScoreMode
    normalize: Normalization
    params: dict[str, bool | int | float | str | dict[str, float]]


class QualitySettings(Section):
    """Which of the ranked hits are kept (spec 001)."""

    dedupe: bool
    dedupe_threshold: Share
    max_per_document: Count | None


class InjectSettings(Section):
    """How hits become the context of a language model (spec 001)."""

    mode: Literal["parent", "chunk", "window"]
    max_tokens: Count
    max_chunks: Count
    format: Literal["markdown", "xml", "json"]


# What questions are about for which an encoder of their own was taught.
QuestionSubject = Literal["law"]


class RetrieveSettings(Section):
    """Search, fusion, reranking and governance (spec 001)."""

    text: ClassVar[TextSettings] = TextSettings(heading_weight=0.25, phrase_boost=1.0)

    method: Literal["hybrid", "semantic", "lexical"]
    questions: QuestionSubject | None = None
    pool_k: Count
    rerank_k: Count
    rrf_k: Count
    top_k: Count
    score_threshold: float | None
    window: int = Field(ge=0, le=20)
    fusion: FusionSettings
    rerank: RerankSettings
    quality: QualitySettings
    inject: InjectSettings


LlmKind = Literal["none", "local", "openai_compatible", "scripted"]
# What models are asked for: a settings file names a role by one of these.
LlmRole = Literal[
    "agent", "route", "rewrite", "verify", "extract", "orchestrator", "mof_expert", "tio2_expert"
]


class RoleSettings(Section):
    """What one role has otherwise than `llm`; None: as there."""

    kind: LlmKind | None = None
    model: str | None = None
    base_url: _Url | None = None
    api_key_variable: _Variable | None = None
    script: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: Count | None = None
    context_tokens: Annotated[int, Field(ge=512)] | None = None


class LlmSettings(Section):
    """The language model that tasks may ask; none unless it is named here."""

    # Of one call; its tries on 429, 5xx and broken connections, with a wait before the second of so
    # long at most, doubled for each further one.
    timeout_seconds: ClassVar[float] = 120.0
    attempts: ClassVar[int] = 4
    backoff_seconds: ClassVar[float] = 1.0

    kind: LlmKind
    model: str
    base_url: _Url
    api_key_variable: _Variable
    script: str
    temperature: float = Field(ge=0, le=2)
    max_tokens: Count
    context_tokens: Annotated[int, Field(ge=512)] | None
    roles: dict[LlmRole, RoleSettings]

    def for_role(self, role: LlmRole) -> "LlmSettings":
        """Return what holds for one role: its own settings over these."""
        own = self.roles.get(role)
        changes = own.model_dump(exclude_none=True) if own is not None else {}
        return self.model_copy(update={**changes, "roles": {}})


class AnswerSettings(Section):
    """Written answers, and how far an agent may go for one (spec 002)."""

    # Calls of the model at most, answers of it that cannot be used and are asked for again, and
    # tokens of all prompts and answers.
    calls: ClassVar[int] = 12
    repairs: ClassVar[int] = 2
    tokens: ClassVar[int] = 60_000

    agentic: bool
    policy: Literal["auto", "rules", "model"]
    max_iterations: Annotated[int, Field(ge=2)]
    seconds: float = Field(gt=0)


class DownloadSettings(Section):
    """What the library may read over HTTP, where a source is an address."""

    private_addresses: bool


class Watching:
    """How the sensors look at raw/."""

    # Shortest time between two looks; a file is taken once it has been still for so long.
    interval_seconds: ClassVar[int] = 5
    rest_seconds: ClassVar[float] = 2.0
    # Hashed at most in one look; the next one goes on.
    megabytes_per_tick: ClassVar[int] = 256


# The name of a bucket as S3 takes it, and keys that need no escape in a path.
STORE_PATTERN = r"^s3://[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9](/[A-Za-z0-9_][A-Za-z0-9_.\-]*)*/?$"


class Settings(Section):
    """All settings of one namespace, merged."""

    raw: Annotated[list[str], Field(min_length=1)]
    places: dict[str, PlaceSettings]
    ignore: list[str]
    hex_digits: int = Field(ge=1, le=3)
    engine: Literal["local", "ray"]
    store: Annotated[str, Field(pattern=STORE_PATTERN)] | None
    parse: ParseSettings
    chunk: ChunkSettings
    embed: EmbedSettings
    graph: GraphSettings
    retrieve: RetrieveSettings
    llm: LlmSettings
    verify: VerifySettings
    audit: AuditSettings
    answer: AnswerSettings
    download: DownloadSettings
    desk: DeskSettings
    lab: LabSettings | None
