"""What to optimise: contract types, the native format and importers. Parses; never imports or runs a file it reads."""
