"""What a process needs to know about where it runs. Read once, frozen, passed as an argument.

| variable | setting | default |
|---|---|---|
| KERNELWRIGHT_DATA | folder of all that is kept | `kernelwright` in XDG_DATA_HOME or ~/.local/share |
| KERNELWRIGHT_DATABASE_URL | SQLAlchemy URL | SQLite in the data folder |
| KERNELWRIGHT_DEVICE | cpu, cuda or auto | auto |
| KERNELWRIGHT_EVALUATIONS | evaluations per job; "none" is no limit | 40 |
| KERNELWRIGHT_SECONDS | seconds per job; "none" is no limit | 600 |
| KERNELWRIGHT_SANDBOX | local (the strongest tier that the host gives), namespaces, restricted, docker | local |
| KERNELWRIGHT_DOCKER_IMAGE | image of the docker sandbox | kernelwright-base |
| KERNELWRIGHT_DOCKER_RUNTIME | its runtime, by the engine's name | the engine's default |
| KERNELWRIGHT_DOCKER_GPUS | ids of the GPUs that it shows, with commas between | none |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agent.api import Budget
from sandbox.docker_settings import IMAGE, EngineSettings
from services.errors import SettingsError

PREFIX = "KERNELWRIGHT_"
DEVICES = ("cpu", "cuda", "auto")
SANDBOXES = ("local", "namespaces", "restricted", "docker")

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Settings:
    """See the module's table. `device` is what the work runs on, never "auto"; `docker` is for that sandbox alone."""

    data: Path
    database_url: str
    device: str
    budget: Budget
    sandbox: str
    docker: EngineSettings

    @property
    def embedded(self) -> bool:
        """Whether the database is the data folder's own, upgraded without asking."""
        return self.database_url == embedded_url(self.data)

    @property
    def reports(self) -> Path:
        """Where reports go that were not given a place."""
        return self.data / "reports"

    @property
    def build_cache(self) -> Path:
        """Where built candidates are kept, by content."""
        return self.data / "build-cache"

    @property
    def calibrations(self) -> Path:
        """Where it is kept what machines were calibrated to."""
        return self.data / "calibrations"

    @property
    def locks(self) -> Path:
        """Where running jobs hold their lock files."""
        return self.data / "locks"


def read_settings(
    environment: Mapping[str, str],
    data: Path | None = None,
    device: str | None = None,
    evaluations: int | None = None,
    seconds: float | None = None,
    sandbox: str | None = None,
) -> Settings:
    """Arguments win over the environment, that over the defaults. Raises SettingsError."""
    folder = (data or _data_folder(environment)).expanduser().absolute()
    url = environment.get(f"{PREFIX}DATABASE_URL") or embedded_url(folder)
    defaults = Budget()
    budget = Budget(
        evaluations=_limit(environment, "EVALUATIONS", int, evaluations, defaults.evaluations),
        seconds=_limit(environment, "SECONDS", float, seconds, defaults.seconds),
    )
    return Settings(
        data=folder,
        database_url=url,
        device=_device(device or environment.get(f"{PREFIX}DEVICE") or "auto"),
        budget=budget,
        sandbox=_sandbox(sandbox or environment.get(f"{PREFIX}SANDBOX") or "local"),
        docker=_docker(environment),
    )


def embedded_url(data: Path) -> str:
    """The URL of the data folder's own database."""
    return f"sqlite:///{data / 'kernelwright.db'}"


def _data_folder(environment: Mapping[str, str]) -> Path:
    chosen = environment.get(f"{PREFIX}DATA")
    if chosen:
        return Path(chosen)
    return Path(environment.get("XDG_DATA_HOME") or "~/.local/share") / "kernelwright"


def _device(name: str) -> str:
    if name not in DEVICES:
        raise SettingsError(f"device {name!r} is unknown; choose one of {', '.join(DEVICES)}")
    if name == "cuda":
        raise SettingsError("device cuda is not available in this version; use --device cpu")
    return "cpu"


def _sandbox(name: str) -> str:
    if name not in SANDBOXES:
        raise SettingsError(f"sandbox {name!r} is unknown; choose one of {', '.join(SANDBOXES)}")
    return name


def _docker(environment: Mapping[str, str]) -> EngineSettings:
    gpus = environment.get(f"{PREFIX}DOCKER_GPUS", "")
    return EngineSettings(
        image=environment.get(f"{PREFIX}DOCKER_IMAGE") or IMAGE,
        runtime=environment.get(f"{PREFIX}DOCKER_RUNTIME") or None,
        gpus=tuple(part.strip() for part in gpus.split(",") if part.strip()),
    )


def _limit(
    environment: Mapping[str, str],
    name: str,
    kind: Callable[[str], Number],
    given: Number | None,
    default: Number | None,
) -> Number | None:
    text = environment.get(PREFIX + name)
    if given is None and not text:
        return default
    if given is None and text == "none":
        return None
    try:
        value = given if given is not None else kind(str(text))
    except ValueError as e:
        raise SettingsError(f"{PREFIX}{name} is {text!r}, not a number or none") from e
    if not 0 < value < float("inf"):
        raise SettingsError(f"the limit of {name.lower()} must be above 0, not {value}")
    return value
