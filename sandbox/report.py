"""What the fork server's helper and a child tell the judge, before and after foreign code runs."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass

from sandbox.api import EndKind, ExitStatus, Guarantee, SandboxError, SandboxUnavailable
from sandbox.channel import SocketChannel, close_all

NAMESPACE_REMEDY = (
    "run as root, or allow unprivileged user namespaces (sysctl user.max_user_namespaces, "
    "kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0); in a container, "
    "give it CAP_SYS_ADMIN and an unmasked /proc"
)
_REMEDIES = {
    "readable_interpreter": "put the interpreter and its packages where every account may read them (not below a home "
    "directory of mode 0700), or let the judge make namespaces",
    "landlock": "use a kernel with CONFIG_SECURITY_LANDLOCK and `landlock` among its active security modules",
    "seccomp": "use a kernel with CONFIG_SECCOMP_FILTER",
    "mount_namespace": f"Linux 5.12 or later is needed; {NAMESPACE_REMEDY}",
    "process_limit": "raise the limit on processes of the account that the service runs as",
    "resource_limits": "name only cores that this process may run on",
}


@dataclass(frozen=True)
class Started:
    """A child that is restricted and running. The receiver owns the descriptors.

    pid: on the host. pidfd: of that process. table: what `ProcessTable` needs. keeper: the pid of the helper that
    waits for it, where there is one.
    """

    pid: int
    pidfd: int
    table: tuple[int, ...]
    keeper: int = 0


class Report:
    """The judge's end of one child's report."""

    def __init__(self, channel: SocketChannel) -> None:
        self._channel = channel
        self._ended: int | None = None

    def started(self, timeout: float) -> Started:
        """Wait until the child runs. Raises SandboxUnavailable for a refused step, SandboxError."""
        pid = keeper = 0
        held: dict[str, list[int]] = {}
        try:
            while len(held) < 2:
                message, fds = self._channel.receive(timeout)
                if "error" in message:
                    close_all(fds)
                    raise refusal(message)
                if "ended" in message:
                    raise SandboxError(f"a sandbox ended while it was set up: {message}")
                if "pid" in message:
                    pid, keeper = int(str(message["pid"])), int(str(message["keeper"]))
                held["pidfd" if "pid" in message else "table"] = fds
        except (EOFError, TimeoutError) as e:
            _give_up(held)
            raise SandboxError(f"the fork server did not start a sandbox: {e}") from e
        except SandboxError:
            _give_up(held)
            raise
        return Started(pid, held["pidfd"][0], tuple(held["table"]), keeper)

    def ended(self, timeout: float) -> int | None:
        """The wait status of the first process once all of its sandbox is gone; None while it lives.

        Raises SandboxError.
        """
        if self._ended is None:
            try:
                message, _ = self._channel.receive(timeout)
            except TimeoutError:
                return None
            except EOFError:
                message = {"ended": 9}  # the helper was killed, and took the process with it
            self._ended = int(str(message["ended"]))
        return self._ended

    def close(self) -> None:
        """Free the channel."""
        self._channel.close()


def _give_up(held: dict[str, list[int]]) -> None:
    for pidfd in held.get("pidfd", []):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    for fds in held.values():
        close_all(fds)


def refusal(message: dict[str, object]) -> SandboxError:
    """The error that a message of a failed set-up stands for."""
    text = str(message["error"])
    if "step" not in message:
        return SandboxError(f"setting up a sandbox failed: {text}")
    step = str(message["step"])
    missing = Guarantee(step, False, text, _REMEDIES.get(step, NAMESPACE_REMEDY))
    return SandboxUnavailable(f"this host refuses {step}: {text}; to have it: {missing.remedy}", (missing,))


def exit_status(wait_status: int) -> ExitStatus:
    """A wait status as a value."""
    if os.WIFSIGNALED(wait_status):
        return ExitStatus(EndKind.SIGNALLED, os.WTERMSIG(wait_status))
    return ExitStatus(EndKind.EXITED, os.WEXITSTATUS(wait_status))
