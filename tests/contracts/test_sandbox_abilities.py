"""What a sandboxed process can do, because honest work needs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox.api import Profile, Sandbox
from tests.contracts.conftest import preloaded
from tests.contracts.inside import SMALL, Spawn, shown_in, value


class TestAbilities:
    def test_it_can_use_its_cores(self, spawn: Spawn) -> None:
        cores = tuple(sorted(os.sched_getaffinity(0)))
        process = spawn("evaluate", Profile(cores=cores, limits=SMALL))
        body = """
            seen = set()
            for core in sorted(os.sched_getaffinity(0)):
                pid = os.fork()
                if pid == 0:
                    os._exit(len(os.sched_getaffinity(0)))
                seen.add(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            return sorted(os.sched_getaffinity(0)), sorted(seen)
            """
        assert value(process, body) == [list(cores), [len(cores)]]

    def test_it_can_start_threads_and_processes(self, spawn: Spawn) -> None:
        body = """
            import subprocess, threading
            done = []
            thread = threading.Thread(target=lambda: done.append(1))
            thread.start()
            thread.join()
            return done, subprocess.run(['sh', '-c', 'echo $((6 * 7))'], capture_output=True, text=True).stdout
            """
        assert value(spawn("evaluate"), body) == [[1], "42\n"]

    def test_it_can_end_a_process_of_its_own(self, spawn: Spawn) -> None:
        body = """
            import subprocess
            child = subprocess.Popen(['sleep', '3600'])
            child.kill()
            return child.wait()
            """
        assert value(spawn("evaluate"), body) == -9

    def test_it_can_make_and_change_its_own_files(self, spawn: Spawn) -> None:
        body = """
            import shutil
            os.makedirs('a/b')
            open('a/b/file', 'w').write('data')
            os.rename('a/b/file', 'a/file')
            os.symlink('file', 'a/link')
            text = open('a/link').read()
            shutil.rmtree('a')
            return text, os.getcwd(), os.listdir()
            """
        text, here, names = value(spawn("evaluate"), body)
        assert (text, names) == ("data", shown_in(here))

    def test_it_can_know_its_processor(self, spawn: Spawn) -> None:
        body = "return os.cpu_count(), bool(open('/proc/cpuinfo').read()), len(os.urandom(8))"
        assert value(spawn("evaluate"), body) == [os.cpu_count(), True, 8]

    def test_it_can_know_where_its_own_memory_lies(self, spawn: Spawn) -> None:
        body = """
            here = ctypes.create_string_buffer(1 << 20)
            return ctypes.addressof(here), open('/proc/self/maps').read()
            """
        address, maps = value(spawn("evaluate"), body)
        spans = [line.split()[0].split("-") for line in maps.splitlines()]
        assert any(int(first, 16) <= address < int(end, 16) for first, end in spans)

    def test_it_can_allocate_what_it_may(self, spawn: Spawn) -> None:
        body = "block = bytearray(message['size']); block[::4096] = bytes([1]) * len(block[::4096]); return len(block)"
        half = SMALL.memory_bytes // 2
        assert value(spawn("evaluate"), body, size=half) == half

    @pytest.mark.slow
    def test_it_can_compile_and_load(self, spawn: Spawn) -> None:
        if not Path("/usr/bin/g++").exists():
            pytest.skip("g++ is not installed")
        body = """
            import subprocess
            open('answer.cpp', 'w').write('extern "C" int answer() { return 6 * 7; }')
            command = ['g++', '-shared', '-fPIC', '-O1', '-o', 'answer.so', 'answer.cpp']
            made = subprocess.run(command, capture_output=True, text=True)
            assert made.returncode == 0, made.stderr
            return ctypes.CDLL('./answer.so').answer()
            """
        assert value(spawn("evaluate"), body) == 42

    @pytest.mark.slow
    def test_it_can_use_torch(self, backend: Sandbox) -> None:
        pytest.importorskip("torch")
        warm = preloaded(backend, "torch", "sandbox_entries")
        process = warm.spawn("sandbox_entries:evaluate", Profile())
        body = "import torch; torch.set_num_threads(2); a = torch.ones(600, 600); return float((a @ a).sum())"
        assert value(process, body) == 600.0**3
        warm.close()
        assert process.poll() is not None
