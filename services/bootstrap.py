"""The wiring: the only file that names concrete classes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agent.api import Proposer
from agent.proposers import default_proposers
from sandbox.api import Guarantee, Sandbox, Tier
from sandbox.docker import DockerSandbox
from sandbox.local import LocalSandbox, open_strongest
from services.calibrations import Calibrations
from services.db import upgrade
from services.db.baselines import BaselineCache
from services.db.engine import Database
from services.db.store import SqlStore
from services.settings import Settings
from services.workshop import Evaluator, Say


class LocalWorkshop:
    """Everything on this machine. See `services.workshop.Workshop`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._database = Database(settings.database_url)
        self._ready = False

    def store(self) -> SqlStore:
        """The stored state; the embedded database is brought up to date first."""
        return SqlStore(self._open())

    def upgrade(self) -> str:
        """Bring the schema up to date; its revision."""
        upgrade.upgrade(self._database)
        return upgrade.head()

    @contextmanager
    def evaluator(self, say: Say) -> Iterator[Evaluator]:
        """A judge of our own. Torch is loaded with it, and only here: a report must not wait for it."""
        from evaluator.judge.session import Judge  # noqa: PLC0415

        sandbox = _sandbox(self.settings)
        try:
            with Judge(
                sandbox=sandbox,
                build_cache=self.settings.build_cache,
                baseline_cache=BaselineCache(self._open()),
                say=say,
                calibrations=Calibrations(self.settings.calibrations),
            ) as judge:
                yield judge
        finally:
            sandbox.close()

    def proposers(self) -> tuple[Proposer, ...]:
        """All proposers that this version has."""
        return default_proposers()

    def guarantees(self) -> tuple[Guarantee, ...]:
        """What the sandbox enforces here."""
        sandbox = _sandbox(self.settings)
        try:
            return sandbox.guarantees()
        finally:
            sandbox.close()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _open(self) -> Database:
        if not self._ready:
            if self.settings.embedded:
                upgrade.upgrade(self._database)
            else:
                upgrade.require_current(self._database)
            self._ready = True
        return self._database


def _sandbox(settings: Settings) -> Sandbox:
    """The backend that was chosen. Raises SandboxUnavailable where no local tier can be had."""
    if settings.sandbox == "docker":
        return DockerSandbox(settings.docker)
    if settings.sandbox == "restricted":
        return LocalSandbox(Tier.RESTRICTED)
    return open_strongest(Tier.NAMESPACES if settings.sandbox == "namespaces" else Tier.RESTRICTED)


def open_workshop(settings: Settings) -> LocalWorkshop:
    """The workshop of this machine. Opens nothing yet."""
    return LocalWorkshop(settings)
