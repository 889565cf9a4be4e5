"""The database schema's history."""
