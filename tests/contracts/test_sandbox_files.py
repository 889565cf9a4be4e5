"""What a sandboxed process may read and write."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from sandbox.api import Profile, SandboxError
from tests.contracts.inside import CHECKOUT, SMALL, Spawn, refused, value

WRITABLE = """
    import sys
    made = []
    for top in ('/', sys.prefix, sys.base_prefix):
        for folder, names, _ in os.walk(top):
            if folder == '/':
                names[:] = [n for n in names if n not in ('proc', 'usr', 'sys')]
            try:
                place = os.path.join(folder, '.trial')
                os.close(os.open(place, os.O_CREAT | os.O_WRONLY))
                os.unlink(place)
                made.append(folder)
            except OSError:
                pass
            names[:] = names[:20]
    return sorted(set(made) - {os.getcwd()})
    """


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    """A folder to be shown: a file and a folder that may be seen, and others to be masked."""
    for name in ("open/seen", "open/deep/seen", "open/hidden/deep", "open/file"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("data")
    everyones = Path(tempfile.gettempdir())
    for folder in (tmp_path, *tmp_path.parents):  # pytest makes them for its user alone
        if everyones in folder.parents:
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | 0o055)
    return tmp_path / "open"


class TestFiles:
    def test_host_files_cannot_be_read(self, spawn: Spawn, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("hunter2")
        process = spawn("evaluate")
        for path in (secret, CHECKOUT / "pyproject.toml", Path("/etc/shadow"), Path("/etc/machine-id")):
            assert refused(process, f"open({str(path)!r}).read()"), path

    def test_host_folders_cannot_be_listed(self, spawn: Spawn, tmp_path: Path) -> None:
        process = spawn("evaluate")
        for path in (tmp_path, CHECKOUT / "docs", Path("/var/lib"), Path("/var/log"), Path("/run")):
            assert refused(process, f"return os.listdir({str(path)!r})"), path

    def test_nothing_about_host_files_is_known(self, spawn: Spawn, tmp_path: Path) -> None:
        """Neither that they exist, nor their size or times."""
        process = spawn("evaluate")
        for path in (tmp_path, CHECKOUT / "pyproject.toml", Path("/etc/shadow"), Path("/etc/fstab")):
            if path.exists():
                assert refused(process, f"return os.stat({str(path)!r}).st_size"), path

    def test_a_readable_path_is_there(self, spawn: Spawn, shown: Path) -> None:
        process = spawn("evaluate", Profile(readable=(shown,), limits=SMALL))
        assert value(process, f"return open('{shown}/deep/seen').read()") == "data"
        assert "seen" in value(process, f"return os.listdir({str(shown)!r})")

    def test_a_readable_path_is_read_only(self, spawn: Spawn, shown: Path) -> None:
        process = spawn("evaluate", Profile(readable=(shown,), limits=SMALL))
        for attempt in (
            f"open('{shown}/seen', 'w')",
            f"open('{shown}/other', 'w')",
            f"os.truncate('{shown}/seen', 0)",
            f"os.unlink('{shown}/seen')",
            f"os.rename('{shown}/seen', '{shown}/moved')",
            f"os.mkdir('{shown}/folder')",
            f"os.symlink('/', '{shown}/link')",
            f"os.link('{shown}/seen', '{shown}/link')",
            f"os.chmod('{shown}/seen', 0o777)",
            f"os.utime('{shown}/seen', (1, 1))",
        ):
            assert refused(process, attempt), attempt
        assert (shown / "seen").read_text() == "data"

    def test_a_masked_path_cannot_be_read(self, spawn: Spawn, shown: Path) -> None:
        process = spawn("evaluate", Profile((shown,), (shown / "hidden", shown / "file"), limits=SMALL))
        assert value(process, f"return open('{shown}/seen').read()") == "data"
        for name in ("hidden/deep", "file"):
            read = f"""
                try:
                    return open('{shown}/{name}').read()
                except OSError:
                    return ''
                """
            assert value(process, read) == ""

    def test_a_masked_path_appears_empty(self, spawn: Spawn, shown: Path) -> None:
        process = spawn("evaluate", Profile((shown,), (shown / "hidden",), limits=SMALL))
        body = f"""
            try:
                return os.listdir('{shown}/hidden')
            except OSError:
                return []
            """
        assert value(process, body) == []

    def test_our_own_code_is_not_there(self, spawn: Spawn) -> None:
        process = spawn("evaluate", Profile(readable=(CHECKOUT / "sandbox",), limits=SMALL))
        body = f"""
            try:
                return open('{CHECKOUT}/sandbox/api.py').read()
            except OSError:
                return ''
            """
        assert value(process, body) == ""

    def test_it_writes_only_to_its_scratch(self, spawn: Spawn) -> None:
        assert set(value(spawn("evaluate"), WRITABLE)) <= {"/dev/shm"}

    def test_named_shared_memory_works(self, spawn: Spawn) -> None:
        body = "open('/dev/shm/name', 'w').write('data'); return open('/dev/shm/name').read()"
        answer = value(spawn("evaluate"), f"try:\n    {body}\nexcept OSError:\n    return ''")
        assert answer == "data"

    def test_what_it_writes_can_be_executed(self, spawn: Spawn) -> None:
        body = """
            import subprocess
            fd = os.open('script', os.O_CREAT | os.O_WRONLY, 0o755)
            os.write(fd, b'#!/bin/sh\\necho done\\n')
            os.close(fd)
            return subprocess.run(['./script'], capture_output=True, text=True).stdout
            """
        assert value(spawn("evaluate"), body) == "done\n"

    def test_its_system_cannot_be_watched(self, spawn: Spawn) -> None:
        """Files of the system are everybody's: who could watch them would see others work."""
        process = spawn("evaluate")
        assert refused(
            process, "fd = call('inotify_init1', 0); return call('inotify_add_watch', fd, b'/usr/bin', 0xFFF)"
        )
        assert refused(process, "return call('fanotify_init', 0, 0)")
        assert refused(process, "import fcntl; fcntl.fcntl(os.open('/usr/bin', 0), fcntl.F_NOTIFY, 1)")

    def test_a_readable_path_that_is_missing_is_an_error(self, spawn: Spawn, tmp_path: Path) -> None:
        with pytest.raises(SandboxError, match="does not exist"):
            spawn("hang", Profile(readable=(tmp_path / "nothing",)))

    def test_the_files_of_a_process_vanish_with_it(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        here = value(process, "open('file', 'w').close(); os.makedirs('a/b/c'); return os.getcwd()")
        process.kill()
        assert here == "/tmp" or not os.path.exists(here)
