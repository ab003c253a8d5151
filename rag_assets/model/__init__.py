"""The nouns: documents, passages, sources, verdicts, errors. Imports nothing of the package."""

from rag_assets.model.addresses import hide_credentials, hide_in
from rag_assets.model.columns import Columns, spans
from rag_assets.model.control_characters import (
    drop_controls,
    find_controls,
    has_controls,
    require_text,
)
from rag_assets.model.documents import (
    RECOGNISED,
    Article,
    Attachment,
    Block,
    BlockKind,
    Box,
    Chunk,
    ChunkKind,
    PageBox,
    PageSpan,
    Parent,
    ParsedDocument,
    ParseReport,
    Section,
    SectionCategory,
    SectionSubtype,
    SourceLine,
    block_columns,
)
from rag_assets.model.errors import (
    AnswerError,
    BudgetError,
    ChangedMeanwhileError,
    CitationError,
    ConfigurationError,
    DamagedFileError,
    DiskFullError,
    DraftMovedError,
    FailureKind,
    LanguageModelError,
    LockedError,
    OutOfMemoryError,
    ParseFailure,
    PublicationError,
    RagError,
    RecordingError,
    RecordsMovedError,
    ServiceError,
    StorageError,
    UsageError,
    WorkspaceError,
    first_fault,
)
from rag_assets.model.hashing import (
    combine_digests,
    document_id,
    hash_bytes,
    hash_fields,
    hash_long,
    hash_text,
    normalise_text,
)
from rag_assets.model.limits import size_problem, usable_processors
from rag_assets.model.markdown import (
    block_quote,
    code_span,
    escape_inline,
    escape_prose,
    fence,
    table_cell,
)
from rag_assets.model.stages import DocumentStatus, Progress, StageOutcome
from rag_assets.model.standing import (
    Standing,
    describe_standing,
    standing_of_title,
    with_standing,
)
from rag_assets.model.tables import show_row
from rag_assets.model.text import (
    CJK_RANGES,
    EAST_ASIAN_RANGES,
    FIGURE,
    HAN,
    HAN_RANGES,
    Cell,
    TextRule,
    align,
    count_cjk,
    count_han,
    count_of,
    is_chinese,
    require_question,
    shorten,
    show_figures,
    shown_value,
    write_csv,
)

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("markdown", "settings")
