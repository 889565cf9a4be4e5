"""What a sandboxed process learns of the host, and of what else runs there.

It can always time itself: who shares caches, memory or a core with another feels that one's load. These checks are
about what it could read.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.contracts.inside import Spawn, do, refused, value

OF_THE_WHOLE_HOST = (
    *("loadavg", "stat", "uptime", "interrupts", "softirqs", "schedstat", "vmstat", "zoneinfo", "diskstats"),
    *("buddyinfo", "pagetypeinfo", "slabinfo", "timer_list", "locks", "pressure/cpu", "meminfo"),
    *("swaps", "partitions", "modules", "kallsyms", "kcore", "key-users", "keys", "cgroups"),
)


class TestHost:
    def test_it_does_not_learn_the_host_s_name(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        ours = os.uname().nodename
        assert value(process, "return os.uname().nodename") != ours
        for path in ("/proc/sys/kernel/hostname", "/etc/hostname"):
            assert do(process, f"return open({path!r}).read().strip()").get("value") != ours

    def test_it_does_not_learn_the_load_of_the_host(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        assert refused(process, "return os.getloadavg()")
        assert refused(process, "return call('sysinfo', ctypes.create_string_buffer(256))")

    def test_files_about_the_whole_host_say_nothing(self, spawn: Spawn) -> None:
        body = """
            told = []
            for name in message['names']:
                try:
                    if open(f'/proc/{name}', 'rb').read(4096):
                        told.append(name)
                except OSError:
                    pass
            return told
            """
        names = [n for n in OF_THE_WHOLE_HOST if Path("/proc", n).exists()]
        assert "loadavg" in names
        assert value(spawn("evaluate"), body, names=names) == []

    def test_idle_times_of_cores_say_nothing(self, spawn: Spawn) -> None:
        body = """
            told = []
            for folder, _, names in os.walk('/sys'):
                for name in {'time', 'usage', 'numastat', 'vmstat', 'meminfo', 'scaling_cur_freq'} & set(names):
                    try:
                        if open(os.path.join(folder, name)).read():
                            told.append(os.path.join(folder, name))
                    except OSError:
                        pass
            return told
            """
        assert value(spawn("evaluate"), body) == []

    def test_it_does_not_see_control_groups(self, spawn: Spawn) -> None:
        process = spawn("evaluate")
        assert (
            do(process, "return open('/proc/self/cgroup').read()").get("value", "").count("kernelwright") == 0
        )
        assert refused(process, "return os.listdir('/sys/fs/cgroup')")

    def test_its_mounts_do_not_name_the_judge_s_places(self, spawn: Spawn) -> None:
        mounts = do(spawn("evaluate"), "return open('/proc/self/mounts').read()").get("value", "")
        assert "/sys/fs/cgroup" not in mounts
