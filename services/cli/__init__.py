"""The command line. Its modules are loaded by sub-command, so that `--help` costs next to nothing."""

from services.cli.entry import main

__all__ = ["main"]
