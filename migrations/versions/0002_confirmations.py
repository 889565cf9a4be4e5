"""Confirmations: a second judgement of the attempts that were the best."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None

DOUBLE = sa.Float(53)


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "confirmations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("policy", sa.String(length=32), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("speedup", DOUBLE, nullable=True),
        sa.Column("speedup_low", DOUBLE, nullable=True),
        sa.Column("speedup_high", DOUBLE, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt"], ["attempts.id"], name=op.f("fk_confirmations_attempt_attempts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_confirmations")),
        sa.UniqueConstraint("attempt", name=op.f("uq_confirmations_attempt")),
    )
    op.add_column(
        "attempts", sa.Column("confirmation_tries", sa.Integer(), nullable=False, server_default="0")
    )


def downgrade() -> None:
    """To revision 0001."""
    op.drop_column("attempts", "confirmation_tries")
    op.drop_table("confirmations")
