"""Arguments win over the environment, that over the defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.docker_settings import EngineSettings
from services.errors import SettingsError
from services.settings import read_settings


def test_defaults_follow_xdg() -> None:
    settings = read_settings({"XDG_DATA_HOME": "/xdg"})
    assert settings.data == Path("/xdg/kernelwright")
    assert settings.database_url == "sqlite:////xdg/kernelwright/kernelwright.db"
    assert settings.embedded
    assert settings.device == "cpu"
    assert settings.sandbox == "local"
    assert (settings.budget.evaluations, settings.budget.seconds) == (40, 600.0)


def test_arguments_win_over_the_environment() -> None:
    environment = {
        "KERNELWRIGHT_DATA": "/env",
        "KERNELWRIGHT_EVALUATIONS": "7",
        "KERNELWRIGHT_SECONDS": "none",
    }
    settings = read_settings(environment, data=Path("/given"), evaluations=3)
    assert settings.data == Path("/given")
    assert (settings.budget.evaluations, settings.budget.seconds) == (3, None)


def test_another_database_is_not_embedded() -> None:
    settings = read_settings({"KERNELWRIGHT_DATABASE_URL": "postgresql+psycopg://host/db"})
    assert not settings.embedded


def test_the_docker_sandbox_is_described_by_the_environment() -> None:
    environment = {
        "KERNELWRIGHT_SANDBOX": "docker",
        "KERNELWRIGHT_DOCKER_IMAGE": "ours:2",
        "KERNELWRIGHT_DOCKER_RUNTIME": "runsc",
        "KERNELWRIGHT_DOCKER_GPUS": "0, GPU-4a",
    }
    settings = read_settings(environment)
    assert settings.sandbox == "docker"
    assert settings.docker == EngineSettings(image="ours:2", runtime="runsc", gpus=("0", "GPU-4a"))
    assert read_settings(environment, sandbox="local").sandbox == "local"


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"KERNELWRIGHT_DEVICE": "cuda"}, "not available in this version"),
        ({"KERNELWRIGHT_DEVICE": "tpu"}, "cpu, cuda, auto"),
        ({"KERNELWRIGHT_SANDBOX": "jail"}, "local, namespaces, restricted, docker"),
        ({"KERNELWRIGHT_SECONDS": "soon"}, "KERNELWRIGHT_SECONDS is 'soon'"),
        ({"KERNELWRIGHT_EVALUATIONS": "0"}, "above 0"),
        ({"KERNELWRIGHT_SECONDS": "nan"}, "above 0"),
    ],
)
def test_a_wrong_setting_is_named(environment: dict[str, str], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        read_settings(environment)
