"""Alembic's environment and the schema's history."""
