"""What a sandboxed process finds when it starts: its environment, its descriptors, its folder."""

from __future__ import annotations

import pytest

from sandbox.api import Profile
from tests.contracts.inside import SMALL, Spawn, shown_in, value


class TestWhatIsInherited:
    def test_the_environment_is_the_profile_s(self, spawn: Spawn, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SECRET_TOKEN", "hunter2")
        process = spawn("evaluate", Profile(environment={"COLOUR": "green"}, limits=SMALL))
        found = value(process, "return dict(os.environ)")
        assert set(found) == {"COLOUR", "HOME", "TMPDIR", "PATH"}
        assert found["COLOUR"] == "green"

    def test_the_environment_that_the_kernel_keeps_is_not_the_judge_s(
        self, spawn: Spawn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SECRET_TOKEN", "hunter2")
        body = """
            try:
                return open('/proc/self/environ').read()
            except OSError:
                return ''
            """
        assert "hunter2" not in value(spawn("evaluate"), body)

    def test_only_the_channel_is_open(self, spawn: Spawn) -> None:
        body = """
            def is_open(fd):
                try:
                    os.fstat(fd)
                    return True
                except OSError:
                    return False
            return [fd for fd in range(5000) if is_open(fd)]
            """
        assert value(spawn("evaluate"), body) == [0, 1, 2, 3]

    def test_an_executed_program_gets_no_channel(self, spawn: Spawn) -> None:
        body = """
            import subprocess
            command = ['sh', '-c', 'true <&3']
            return subprocess.run(command, capture_output=True, close_fds=False).returncode
            """
        assert value(spawn("evaluate"), body) != 0

    def test_it_works_in_its_scratch(self, spawn: Spawn) -> None:
        body = "return os.getcwd(), os.environ['HOME'], os.environ['TMPDIR'], os.listdir()"
        here, home, temporary, names = value(spawn("evaluate"), body)
        assert (home, temporary, names) == (here, here, shown_in(here))

    def test_the_usual_name_of_the_scratch_leads_to_it(self, spawn: Spawn) -> None:
        process = spawn(
            "evaluate", Profile(environment={"CACHE": "/tmp/cache", "OTHER": "/tmpx"}, limits=SMALL)
        )
        body = "import tempfile; return os.environ['CACHE'], os.environ['OTHER'], tempfile.gettempdir(), os.getcwd()"
        cache, other, temporary, here = value(process, body)
        assert (cache, other, temporary) == (f"{here}/cache", "/tmpx", here)

    def test_its_session_has_no_terminal(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        body = "import fcntl; return os.getsid(0) == os.getpid()"
        assert value(process, body)
        assert not value(process, "return any(os.isatty(fd) for fd in range(3))")
