"""What this process may do on this host, for one tier."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sandbox.api import Tier
from sandbox.capabilities import CHOWN, KILL, SETGID, SETUID, SYS_ADMIN, SYS_PTRACE, has_rights
from sandbox.cgroups import Cgroups
from sandbox.scratch import ScratchFolders
from sandbox.uids import may_choose_uids

_NEEDED = {
    Tier.NAMESPACES: (CHOWN, SETGID, SETUID, SYS_ADMIN),
    Tier.RESTRICTED: (CHOWN, SETGID, SETUID, KILL),
}


class Host:
    """Found once, when a sandbox is first used.

    drop: every child gets a uid of its own. borrows_ids: the judge must take on a child's ids to read its memory.
    scratch: where there is no mount namespace, folders of the host. Raises OSError.
    """

    def __init__(self, tier: Tier) -> None:
        self.drop = may_choose_uids(_NEEDED[tier])
        self.borrows_ids = self.drop and not has_rights((SYS_PTRACE,))
        self.cgroups = Cgroups()
        self.scratch = ScratchFolders(Path(tempfile.gettempdir())) if tier is Tier.RESTRICTED else None

    def close(self) -> None:
        """Remove the scratch folders. Idempotent."""
        if self.scratch is not None:
            self.scratch.close()
