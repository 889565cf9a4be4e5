"""Migrations make the schema that the models say, and run both ways on a filled database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from agent.api import Budget, Proposal
from evaluator.evaluation import Evaluation
from evaluator.problem.contract import Problem
from services.db import upgrade
from services.db.engine import Database
from services.db.models import Base
from services.db.store import SqlStore
from services.errors import SchemaOutdated, SettingsError


def test_the_migrated_schema_is_the_models(database: Database) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_both_ways_on_a_filled_database(
    database: Database,
    store: SqlStore,
    problem: Problem,
    proposal: Callable[..., Proposal],
    evaluation: Callable[..., Evaluation],
) -> None:
    job = store.create(problem, Budget())
    store.add_proposal(job.id, proposal(1))
    store.claim(job.id)
    store.record(job.id, 1, evaluation(problem, proposal(1)))
    store.claim_confirmation(job.id, 1)
    store.confirm(job.id, 1, evaluation(problem, proposal(1)))
    upgrade.upgrade(database)
    assert store.attempts(job.id)[0].evaluation is not None
    upgrade.downgrade(database, "base")
    assert inspect(database.engine).get_table_names() == ["alembic_version"]
    upgrade.upgrade(database)
    upgrade.require_current(database)
    again = store.create(problem, Budget())
    assert store.job(again.id).problem == problem


def test_foreign_keys_hold_after_a_migration(database: Database) -> None:
    with database.reading() as session:
        assert session.execute(text("PRAGMA foreign_keys")).scalar() == 1


def test_an_old_database_is_refused_with_the_command(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/old.db")
    with pytest.raises(SchemaOutdated, match="kernelwright db upgrade"):
        upgrade.require_current(database)
    database.close()


def test_a_newer_database_is_left_alone(database: Database) -> None:
    with database.writing() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaOutdated, match="newer version"):
        upgrade.upgrade(database)


def test_a_folder_that_cannot_be_made_is_a_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    database = Database(f"sqlite:///{tmp_path}/file/kernelwright.db")
    with pytest.raises(SettingsError, match="--data"):
        upgrade.upgrade(database)
    database.close()
