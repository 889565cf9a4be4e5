"""Our only code inside a runner process. Standard library and torch; imports nothing else of ours."""
