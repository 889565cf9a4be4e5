"""The first schema: problems, jobs, candidates, attempts, evaluations, baselines, artifacts, events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

MOMENT = sa.DateTime(timezone=True)
DOUBLE = sa.Float(53)
WORD = sa.String(32)


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "artifacts",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("compressed", sa.LargeBinary(), nullable=False),
        sa.Column("compressed_size", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_artifacts")),
    )
    op.create_table(
        "baselines",
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_baselines")),
    )
    op.create_table(
        "candidates",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("language", WORD, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_candidates")),
    )
    op.create_table(
        "candidate_files",
        sa.Column("candidate", sa.String(length=64), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("artifact", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["artifact"], ["artifacts.digest"], name=op.f("fk_candidate_files_artifact_artifacts")
        ),
        sa.ForeignKeyConstraint(
            ["candidate"],
            ["candidates.digest"],
            name=op.f("fk_candidate_files_candidate_candidates"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("candidate", "position", name=op.f("pk_candidate_files")),
        sa.UniqueConstraint("candidate", "name", name=op.f("uq_candidate_files_candidate_name")),
    )
    op.create_table(
        "problems",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=32), nullable=False),
        sa.Column("contract", sa.JSON(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("source", sa.String(length=64), nullable=False),
        sa.Column("entry", sa.Text(), nullable=False),
        sa.Column("style", WORD, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["source"], ["artifacts.digest"], name=op.f("fk_problems_source_artifacts")),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_problems")),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("problem", sa.String(length=64), nullable=False),
        sa.Column("budget_evaluations", sa.Integer(), nullable=True),
        sa.Column("budget_seconds", DOUBLE, nullable=True),
        sa.Column("proposers", sa.JSON(), nullable=True),
        sa.Column("state", WORD, nullable=False),
        sa.Column("seconds_used", DOUBLE, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["problem"], ["problems.digest"], name=op.f("fk_jobs_problem_problems")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index(op.f("ix_jobs_created_at"), "jobs", ["created_at"])
    op.create_index(op.f("ix_jobs_problem"), "jobs", ["problem"])
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("candidate", sa.String(length=64), nullable=False),
        sa.Column("proposer", sa.String(length=64), nullable=False),
        sa.Column("idea", sa.Text(), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("parents", sa.JSON(), nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["candidate"], ["candidates.digest"], name=op.f("fk_attempts_candidate_candidates")
        ),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name=op.f("fk_attempts_job_jobs"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
        sa.UniqueConstraint("job", "candidate", name=op.f("uq_attempts_job_candidate")),
        sa.UniqueConstraint("job", "number", name=op.f("uq_attempts_job_number")),
    )
    op.create_index(op.f("ix_attempts_job_state_number"), "attempts", ["job", "state", "number"])
    op.create_table(
        "events",
        sa.Column("job", sa.String(length=32), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["job"], ["jobs.id"], name=op.f("fk_events_job_jobs"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job", "sequence", name=op.f("pk_events")),
    )
    op.create_table(
        "evaluations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("verdict", WORD, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("policy", sa.String(length=32), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("speedup", DOUBLE, nullable=True),
        sa.Column("speedup_low", DOUBLE, nullable=True),
        sa.Column("speedup_high", DOUBLE, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt"], ["attempts.id"], name=op.f("fk_evaluations_attempt_attempts"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluations")),
        sa.UniqueConstraint("attempt", name=op.f("uq_evaluations_attempt")),
    )


def downgrade() -> None:
    """To an empty database."""
    op.drop_table("evaluations")
    op.drop_table("events")
    op.drop_index(op.f("ix_attempts_job_state_number"), table_name="attempts")
    op.drop_table("attempts")
    op.drop_index(op.f("ix_jobs_problem"), table_name="jobs")
    op.drop_index(op.f("ix_jobs_created_at"), table_name="jobs")
    op.drop_table("jobs")
    op.drop_table("problems")
    op.drop_table("candidate_files")
    op.drop_table("candidates")
    op.drop_table("baselines")
    op.drop_table("artifacts")
