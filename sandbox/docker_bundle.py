"""Our code as one archive that a container begins with, and that is gone before foreign code arrives.

The interpreter with its packages is shown to a container; our code is not, and neither are modules that lie
elsewhere on the host.
"""

from __future__ import annotations

import importlib.util
import io
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from sandbox import rootfs
from sandbox.api import Profile, SandboxError

_SERVER = "sandbox.docker_inside"


def bundle(preload: Iterable[str]) -> bytes:
    """A zip archive of the modules among `preload` that a container does not find by itself, and of the server.

    Of a module in a package of ours the modules beside it come along, since they import one another. Raises
    SandboxError for a module that is not there.
    """
    files: dict[str, Path] = {}
    for name in (_SERVER, *preload):
        files.update(_files(name))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, path in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return buffer.getvalue()


def _files(module: str) -> Iterator[tuple[str, Path]]:
    top, *rest = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        raise SandboxError(f"there is no module named {module!r} to be preloaded")
    origin = Path(spec.origin)
    if _found_inside(origin):
        return
    if not spec.submodule_search_locations:
        yield f"{top}.py", origin
        return
    folder, inside = origin.parent, top
    for name in rest:
        yield f"{inside}/__init__.py", folder / "__init__.py"
        if not (folder / name).is_dir():
            break
        folder, inside = folder / name, f"{inside}/{name}"
    for path in sorted(folder.glob("*.py")):
        yield f"{inside}/{path.name}", path


def _found_inside(origin: Path) -> bool:
    plan = rootfs.plan(Profile(), system=False)
    shown = any(origin.is_relative_to(b.target) for b in plan.binds)
    return shown and not any(origin.is_relative_to(m) for m in plan.masked)
