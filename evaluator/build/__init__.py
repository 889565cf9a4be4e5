"""Builder jobs and the content-addressed build cache."""
