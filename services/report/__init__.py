"""A job's report."""
