"""The tables of the laboratory's store: events, and what is folded out of them.

Only `events` is truth. Every other table is a projection: dropped and folded again it is the same.
`experience_vectors` is neither: what a model makes of a text, by its hash, to be made again.
"""

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

METADATA = MetaData()

events = Table(
    "events",
    METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("id", String, nullable=False, unique=True),
    Column("at", String, nullable=False),
    Column("by", String, nullable=False),
    Column("entity", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("cause", String, nullable=True, index=True),
    Column("body", JSON, nullable=False),
    Index("events_of_a_subject", "entity", "subject", "seq"),
    sqlite_autoincrement=True,
)

vectors = Table(
    "experience_vectors",
    METADATA,
    Column("fingerprint", String, primary_key=True),
    Column("text_hash", String, primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)


def _refers(column: str) -> ForeignKey:
    # Rows of a subject are replaced within a transaction; what they refer to is checked at its end.
    return ForeignKey(column, deferrable=True, initially="DEFERRED")


runs = Table(
    "runs",
    METADATA,
    Column("id", String, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column("state", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("record", JSON, nullable=False),
)

products = Table(
    "products",
    METADATA,
    Column("id", String, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("name", String, nullable=False),
    Column("status", String, CheckConstraint("status IN ('active', 'deleted')"), nullable=False),
)

presets = Table(
    "presets",
    METADATA,
    Column("id", String, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("name", String, nullable=False),
    Column("status", String, CheckConstraint("status IN ('active', 'deleted')"), nullable=False),
)

preset_products = Table(
    "preset_products",
    METADATA,
    Column("preset_id", String, _refers("presets.id"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("product_id", String, _refers("products.id"), nullable=False),
)

# The id of a feedback is that of its run, so that a run cannot have two.
feedback = Table(
    "feedback",
    METADATA,
    Column("run_id", String, _refers("runs.id"), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("status", String, CheckConstraint("status IN ('given', 'deleted')"), nullable=False),
    Column("recipe_index", Integer, CheckConstraint("recipe_index >= 1"), nullable=False),
    Column("as_made", String, nullable=False),
    Column("score", Float, nullable=False),
    Column("pros", String, nullable=False),
    Column("cons", String, nullable=False),
    Column("other", String, nullable=False),
    Column("learn", Boolean, nullable=True),
    Column("signature", String, nullable=False, index=True),
    Column("given_at", String, nullable=False),
    Column("updated_at", String, nullable=False),
)

feedback_products = Table(
    "feedback_products",
    METADATA,
    Column("run_id", String, _refers("feedback.run_id"), primary_key=True),
    Column("product_id", String, _refers("products.id"), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("value", Float, CheckConstraint("value >= 0"), nullable=False),
    Column("fraction", Float, CheckConstraint("fraction >= 0 AND fraction <= 1"), nullable=False),
    UniqueConstraint("run_id", "place"),
)

reports = Table(
    "reports",
    METADATA,
    Column("run_id", String, _refers("feedback.run_id"), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("made_at", String, nullable=False),
    Column("signature", String, nullable=False),
    Column("report", JSON, nullable=False),
)

extractions = Table(
    "extractions",
    METADATA,
    Column("id", String, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("run_id", String, _refers("feedback.run_id"), nullable=False, index=True),
    Column("status", String, CheckConstraint("status IN ('made', 'rolled_back')"), nullable=False),
    Column("made_at", String, nullable=False),
    Column("record", JSON, nullable=False),
)

items = Table(
    "items",
    METADATA,
    Column("id", String, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("role", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("type", String, nullable=False),
    Column("status", String, CheckConstraint("status IN ('active', 'archived')"), nullable=False),
    Column("rolled_back", Integer, nullable=False),
    Column("created_at", String, nullable=False),
    Column("updated_at", String, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("title", String, nullable=False),
    Column("description", String, nullable=False),
    Column("content", String, nullable=False),
    Column("extra_json", String, nullable=False),
    Column("moved_to", JSON, nullable=False),
    Index("items_to_search", "status", "role"),
)

lessons = Table(
    "lessons",
    METADATA,
    Column("id", String, primary_key=True),
    Column("item_id", String, _refers("items.id"), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("extraction_id", String, nullable=False, index=True),
    Column("source_run_id", String, nullable=False),
    Column("lesson", JSON, nullable=False),
)

mem_edit_log = Table(
    "mem_edit_log",
    METADATA,
    Column("event_id", String, primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("item_id", String, _refers("items.id"), nullable=False, index=True),
    Column("at", String, nullable=False),
    Column("by", String, nullable=False),
    Column("action", String, nullable=False),
    Column("before", JSON, nullable=True),
    Column("after", JSON, nullable=False),
    Column("reason", String, nullable=False),
)

templates = Table(
    "templates",
    METADATA,
    Column("role", String, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("text", String, nullable=False),
    Column("saved_at", String, nullable=False),
)

preferences = Table(
    "preferences",
    METADATA,
    Column("id", String, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("saved", JSON, nullable=False),
    Column("saved_at", String, nullable=False),
)

# The column of each projection that says whose events a row is folded from.
OWNERS = {
    runs: "id",
    products: "id",
    presets: "id",
    preset_products: "preset_id",
    feedback: "run_id",
    feedback_products: "run_id",
    reports: "run_id",
    extractions: "id",
    items: "id",
    lessons: "item_id",
    mem_edit_log: "item_id",
    templates: "role",
    preferences: "id",
}
