"""What to optimise: contract types, native format, importers. Parses; never imports or runs a file."""
