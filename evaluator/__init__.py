"""Problem and candidate in, evaluation out. No database, queue, web or LLM."""
