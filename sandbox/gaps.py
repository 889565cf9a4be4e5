"""What the local backend does not give on a host, by the names of guarantees and of the conformance suite's checks."""

from __future__ import annotations

from collections.abc import Mapping

_SHARED_UID = "only root can give every sandbox a uid of its own; it has the judge's"
_NO_MEMORY_GROUP = (
    "this process may not make control groups, so memory is bounded for each process only (RLIMIT_AS)"
)


def known(own_uids: bool, memory_groups: bool) -> Mapping[str, str]:
    """Gaps of the tier `namespaces`.

    own_uids: the judge is root and gives uids. memory_groups: it may make control groups that bound memory.
    """
    gaps: dict[str, str] = {}
    if not own_uids:
        gaps |= dict.fromkeys(("own_uid", "two_living_sandboxes_never_share_a_uid"), _SHARED_UID)
    if not memory_groups:
        names = ("memory_limit", "a_memory_bomb_is_named_so", "a_command_that_takes_all_memory_is_named_so")
        gaps |= dict.fromkeys(names, _NO_MEMORY_GROUP)
    return gaps
