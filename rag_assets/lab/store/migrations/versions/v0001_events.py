"""The events, and the vectors beside them. Projections are folded, never migrated."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of an empty store."""
    op.create_table(
        "events",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("at", sa.String, nullable=False),
        sa.Column("by", sa.String, nullable=False),
        sa.Column("entity", sa.String, nullable=False),
        sa.Column("subject", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("cause", sa.String, nullable=True),
        sa.Column("body", sa.JSON, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("events_of_a_subject", "events", ["entity", "subject", "seq"])
    op.create_index("ix_events_cause", "events", ["cause"])
    op.create_table(
        "experience_vectors",
        sa.Column("fingerprint", sa.String, primary_key=True),
        sa.Column("text_hash", sa.String, primary_key=True),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Refuse: what a person entered is never dropped."""
    raise NotImplementedError("events are kept: export them with the version that wrote them.")
