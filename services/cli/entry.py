"""Where the process begins: run the command, turn what it raised into a message and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import typer
from typer.main import get_command

from services.cli.app import app
from services.cli.failures import exit_code, kind, message
from services.cli.output import Output
from services.workshop import OpenWorkshop

DEBUG = "KERNELWRIGHT_DEBUG"
INTERRUPTED = 130
"""What Ctrl-C gives where no command has a result for it, as shells have it: 128 and the signal's number."""


def main(argv: Sequence[str] | None = None, open_workshop: OpenWorkshop | None = None) -> int:
    """Run one command; its exit code: 0 accepted or found, 1 not, 2 wrong use, 3 our own fault,
    130 interrupted before there was a result.

    open_workshop: where commands get what they work with; `services.bootstrap.open_workshop` if None.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = get_command(app).main(
            args=arguments, prog_name="kernelwright", standalone_mode=False, obj=open_workshop
        )
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as e:
        return _fail(e, "--json" in arguments)
    if code == INTERRUPTED:
        Output("--json" in arguments).error("interrupted", "interrupted before there was a result")
    return int(code or 0)


def _fail(error: Exception, as_json: bool) -> int:
    if os.environ.get(DEBUG) == "1":
        traceback.print_exception(error)
    Output(as_json).error(kind(error), message(error))
    if isinstance(error, typer.TyperException):
        print("Try 'kernelwright --help'.", file=sys.stderr)
    return exit_code(error)
