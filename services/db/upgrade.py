"""Bringing a database's schema to this version's, and refusing one that is not."""

from __future__ import annotations

from importlib import resources

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from services.db.engine import Database
from services.errors import SchemaOutdated, SettingsError


def head() -> str:
    """The newest revision that this version knows."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None
    return revision


def current(database: Database) -> str | None:
    """The database's revision; None where it is empty. Raises SettingsError where it cannot be reached."""
    try:
        with database.engine.connect() as connection:
            return MigrationContext.configure(connection).get_current_revision()
    except OperationalError as e:
        raise SettingsError(f"the database cannot be opened: {e.orig}") from e


def upgrade(database: Database, revision: str = "head") -> None:
    """Bring the schema up to `revision`, in one transaction. Raises SchemaOutdated for a newer database."""
    _refuse_newer(database)
    _make_folder(database)
    with database.migrating() as connection:
        command.upgrade(_config(connection), revision)


def downgrade(database: Database, revision: str) -> None:
    """Bring the schema down to `revision` ("base" is an empty database), in one transaction."""
    with database.migrating() as connection:
        command.downgrade(_config(connection), revision)


def require_current(database: Database) -> None:
    """Raises SchemaOutdated unless the schema is this version's."""
    _refuse_newer(database)
    if current(database) != head():
        raise SchemaOutdated("the database's schema is older than this version; run: kernelwright db upgrade")


def _refuse_newer(database: Database) -> None:
    revision = current(database) if _exists(database) else None
    known = {s.revision for s in ScriptDirectory.from_config(_config()).walk_revisions()}
    if revision is not None and revision not in known:
        raise SchemaOutdated(
            f"the database has schema {revision}, from a newer version; use that version, or another --data"
        )


def _exists(database: Database) -> bool:
    return database.sqlite_file is None or database.sqlite_file.exists()


def _make_folder(database: Database) -> None:
    if database.sqlite_file is not None:
        try:
            database.sqlite_file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise SettingsError(f"the data folder cannot be made: {e}; choose another with --data") from e


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(resources.files("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
