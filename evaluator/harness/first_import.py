"""The first import of a candidate that compiles as it is imported, and the archive of what it built.

    python -m evaluator.harness.first_import MAIN ARCHIVE

The candidate's files lie in `loading.candidate_folder()`. What is archived lies in the scratch folder and is laid at
the same place in every runner by `loading.unpack`. An exception of the candidate ends the process, which is how the
builder sees it.
"""

from __future__ import annotations

import os
import sys
import tarfile
from collections.abc import Iterator

from evaluator.harness.loading import built_folders, candidate_folder, import_main, scratch

LEFT_OUT = (".gch", ".pch", "lock", ".lock")
"""Precompiled headers, which only a compiler needs, and locks, which nobody would ever release."""


def main(main_file: str, archive: str) -> None:
    """Import the candidate, then write the archive."""
    import_main(main_file, candidate_folder())
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as target:
        for path in built():
            target.add(path, arcname=os.path.relpath(path, scratch()), filter=_plain)


def built() -> Iterator[str]:
    """Regular files below the folders in which torch builds."""
    for folder in built_folders():
        for where, _, names in os.walk(folder):
            paths = (os.path.join(where, name) for name in sorted(names) if not name.endswith(LEFT_OUT))
            yield from (p for p in paths if os.path.isfile(p) and not os.path.islink(p))


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Whole seconds, rounded down: a build system that finds a file newer than it remembers would build it again."""
    entry.mtime = int(entry.mtime)
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main(*sys.argv[1:])
