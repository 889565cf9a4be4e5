"""What the local backend does not give on a host, by the names of guarantees and of the conformance suite's checks."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.api import Tier
from sandbox.host import Host

_SHARED_UID = {
    "only root can give every sandbox a uid of its own; it has the judge's": (
        "own_uid",
        "two_living_sandboxes_never_share_a_uid",
    ),
}
_NO_MEMORY_GROUP = {
    "no control group may be made, so memory is bounded for each process only (RLIMIT_AS)": (
        "memory_limit",
        "a_memory_bomb_is_named_so",
        "a_command_that_takes_all_memory_is_named_so",
    ),
}
_NO_NAMESPACES = {
    "this tier has no namespaces": (
        *("user_namespace", "pid_namespace", "net_namespace", "ipc_namespace"),
        *("mount_namespace", "uts_namespace", "cgroup_namespace"),
    ),
    "without mounts its scratch is a folder of the host, in which each file is bounded (RLIMIT_FSIZE), not all": (
        *("private_tmpfs", "tmpfs_bounded"),
        *("its_scratch_holds_exactly_what_it_may", "the_number_of_its_files_is_bounded"),
        "named_shared_memory_works",
    ),
    "Landlock guards what is in files, not that they exist, nor their size and times": (
        "nothing_about_host_files_is_known",
    ),
    "Landlock gives the right to list a folder for all below it: names of masked files are seen": (
        "a_masked_path_appears_empty",
    ),
    "the host's pids can be asked for, though nothing about them is told": (
        "it_cannot_find_out_which_processes_exist",
    ),
    "without a UTS namespace the host's name is known": ("it_does_not_learn_the_host_s_name",),
}
_NO_MODES = {
    "modes of files are closed, so a linker cannot make a program executable; a library needs no such mode": (
        "a_compiler_works",
    ),
}
_NO_RIGHT_TO_EMPTY = {
    "an ordinary user may not empty the set of what a program could bring; no-new-privileges makes it worthless": (
        "no_program_could_bring_it_a_right",
    ),
}


def known(tier: Tier, host: Host) -> Mapping[str, str]:
    """Gaps of a tier on this host: name → reason."""
    tables: list[Mapping[str, tuple[str, ...]]] = []
    if not host.drop:
        tables.append(_SHARED_UID)
    if not host.cgroups.memory:
        tables.append(_NO_MEMORY_GROUP)
    if tier is Tier.RESTRICTED:
        tables.append(_NO_NAMESPACES)
        if not host.drop:
            tables += [_NO_RIGHT_TO_EMPTY, _NO_MODES]
    return {name: reason for table in tables for reason, names in table.items() for name in names}
