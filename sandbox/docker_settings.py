"""How containers are made on this host: what a deployment chooses."""

from __future__ import annotations

from dataclasses import dataclass

IMAGE = "kernelwright-base"


@dataclass(frozen=True)
class EngineSettings:
    """image: holds a C library, a C++ compiler and what the host's interpreter links against, of the host's release.
    runtime: the engine's default where None. gpus: device ids as the engine knows them.
    spares: containers that wait, modules imported, for the next `spawn` of the same kind.
    """

    image: str = IMAGE
    runtime: str | None = None
    gpus: tuple[str, ...] = ()
    spares: int = 2
