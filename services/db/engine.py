"""Opening a database and beginning transactions on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.orm import Session

from services.errors import SettingsError

BUSY_SECONDS = 60
"""How long a writer on SQLite waits for another."""


class Database:
    """An engine, and the two kinds of transaction. Close it when done; nothing is opened before first use."""

    def __init__(self, url: str) -> None:
        """Raises SettingsError where the URL is not one that SQLAlchemy and its drivers here can use."""
        try:
            parsed = make_url(url)
            self.engine: Engine = _create(url)
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as e:
            raise SettingsError(f"the database URL cannot be used: {e}") from e
        self.sqlite_file = _file(parsed.database) if parsed.get_backend_name() == "sqlite" else None
        self._writer = self.engine.execution_options(kernelwright_writes=True)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """One transaction that sees one state of the database and writes nothing."""
        with Session(self.engine, autoflush=False) as session, session.begin():
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """One transaction, committed at the end, rolled back on an exception.

        On SQLite it holds the only write lock from its first statement on. On PostgreSQL a writer locks the
        job's row first (`Jobs.locked`), so changes to one job follow one another in both.
        """
        with Session(self._writer) as session, session.begin():
            yield session

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """One transaction for changing the schema; on SQLite without foreign keys: tables are rebuilt."""
        with self._writer.connect() as connection:
            if connection.dialect.name == "sqlite":
                _foreign_keys(connection, "OFF")
            try:
                with connection.begin():
                    yield connection
            finally:
                if connection.dialect.name == "sqlite":
                    _foreign_keys(connection, "ON")

    def close(self) -> None:
        """Close every connection. Idempotent."""
        self.engine.dispose()


def _create(url: str) -> Engine:
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS} if url.startswith("sqlite") else {})
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    """WAL so that readers don't wait, foreign keys on, and BEGIN left to us instead of the driver."""
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("kernelwright_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _foreign_keys(connection: Connection, state: str) -> None:
    """SQLite ignores this inside a transaction, so it goes to the driver's own connection."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    raw.execute(f"PRAGMA foreign_keys={state}").close()


def _file(database: str | None) -> Path | None:
    return Path(database) if database and database != ":memory:" else None
