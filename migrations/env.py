"""How Alembic reaches the database: over the connection that `services.db.upgrade` hands it."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from services.db.models import Base


def run(connection: Connection) -> None:
    """Run the migrations that were asked for, in one transaction."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run(context.config.attributes["connection"])
