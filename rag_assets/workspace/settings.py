"""Configuration models. Their defaults live once, in configs/rag.yaml."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class PlaceSettings(_Section):
    """What a file is because of where it lies."""

    source_type: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    source_subtype: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]*$")
    citable: bool


class MineruSettings(_Section):
    """The cloud service MinerU: its limits, and how patient we are with it."""

    url: str = Field(pattern=r"^https?://")
    model_version: str = Field(min_length=1)
    batch_files: int = Field(ge=1, le=200)
    max_pages: Count
    max_megabytes: Count
    part_pages: Count
    attempts: Count
    backoff_seconds: float = Field(ge=0)
    poll_seconds: float = Field(gt=0)
    wait_seconds: float = Field(gt=0)


class ParseSettings(_Section):
    """Limits and rules of parsing. Limits of time and memory do not change what a parse returns."""

    workers: int = Field(ge=0, le=256)
    seconds_per_document: float = Field(gt=0)
    megabytes_of_memory: int = Field(ge=256)
    max_pages: Count
    max_megabytes: Count
    max_attempts: Count
    repeated_line_share: Share
    parser: Literal["pymupdf", "pymupdf4llm", "mineru"]
    ocr: Literal["none", "tesseract"]
    ocr_languages: str = Field(pattern=r"^\w+(\+\w+)*$")
    ocr_dpi: int = Field(ge=72, le=600)
    mineru: MineruSettings
    parser_options: dict[str, dict[str, bool | int | float | str]]


class GeneralChunkSettings(_Section):
    """Pieces between delimiters, joined up to a size."""

    delimiter: str = Field(min_length=1)
    max_tokens: int = Field(ge=16)
    overlap: float = Field(ge=0, le=0.5)


PreprocessRule = Literal["attachments", "citation_marks", "emails", "urls", "white_space"]


class ChunkSettings(_Section):
    """Sizes in tokens of the embedding model's tokenizer."""

    mode: Literal["parent_child", "general", "qa"]
    target_tokens: int = Field(ge=8)
    min_tokens: Count
    max_tokens: int = Field(ge=16)
    overlap: float = Field(ge=0, le=0.1)
    parents: Literal["page", "section", "document"]
    parent_tokens: int = Field(ge=16)
    context: Literal["headings", "none"]
    preprocess: list[PreprocessRule]
    general: GeneralChunkSettings


class EmbedSettings(_Section):
    """Which model turns text into vectors."""

    kind: Literal["sentence_transformers", "hashing"]
    model: str = Field(min_length=1)
    batch_size: Count


class PublishSettings(_Section):
    """What is kept, and for how long."""

    keep_publications: Count
    keep_hours: float = Field(ge=0)
    keep_removed_days: float = Field(ge=0)


class RetrieveSettings(_Section):
    """Search and fusion (spec 001)."""

    method: Literal["hybrid", "semantic", "lexical"]
    references: bool
    pool_k: Count
    rrf_k: Count
    top_k: Count


class VerifySettings(_Section):
    """Verification of citations (spec 000)."""

    scorer: Literal["similarity"]
    k: Count
    threshold: Share
    weak_threshold: Share


class SensorSettings(_Section):
    """How the sensors look at raw/."""

    interval_seconds: Count
    rest_seconds: float = Field(ge=0)
    megabytes_per_tick: Count


class Settings(_Section):
    """All settings of one namespace, merged."""

    raw: Annotated[list[str], Field(min_length=1)]
    places: dict[str, PlaceSettings]
    ignore: list[str]
    hex_digits: int = Field(ge=1, le=3)
    parse: ParseSettings
    chunk: ChunkSettings
    embed: EmbedSettings
    publish: PublishSettings
    retrieve: RetrieveSettings
    verify: VerifySettings
    sensors: SensorSettings
