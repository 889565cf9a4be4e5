"""What sandboxed code may not ask of the kernel: system calls that it has no use for, or that would break a promise.

Beyond the usual (namespaces, mounts, modules, keys, bpf, tracing, sockets) these matter to the judge: whatever could
send SIGCONT to a frozen process from the kernel (timer_create, mq_notify, F_SETSIG), write into its memory while it
is frozen (io_uring, io_submit), hide its memory (PR_SET_DUMPABLE, memfd_secret), leave its cores
(sched_setaffinity), or tell when others work (inotify, sysinfo, cachestat, clocks of other processes). Priorities,
scheduling and limits can be set for the caller alone, since another process may have the same uid. PR_SET_PDEATHSIG
is answered with success and does nothing. clone3 is answered as if the kernel did not know it, so that the C library
falls back to clone, whose flags can be compared.
"""

from __future__ import annotations

import enum
import errno
from dataclasses import dataclass

from sandbox.syscalls import PR_SET_DUMPABLE, PR_SET_PDEATHSIG

DENIED = (
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit"),
    *("bpf", "userfaultfd", "perf_event_open", "lookup_dcookie", "syslog"),
    *("fanotify_init", "inotify_init", "inotify_init1", "inotify_add_watch", "cachestat", "sysinfo"),
    *("keyctl", "add_key", "request_key"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease"),
    *("kcmp", "pidfd_getfd", "memfd_secret"),
    *("mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig"),
    *("fsmount", "fspick", "mount_setattr", "setns", "unshare"),
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module"),
    *("open_by_handle_at", "name_to_handle_at", "swapon", "swapoff", "reboot", "acct"),
    *("quotactl", "quotactl_fd", "nfsservctl", "uselib", "ustat", "vhangup"),
    *("sethostname", "setdomainname", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex"),
    *("iopl", "ioperm", "modify_ldt"),
    *("timer_create", "mq_open", "mq_notify", "mq_unlink", "sched_setaffinity", "ioprio_set"),
    *("shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl"),
    *("semget", "semop", "semtimedop", "semctl", "migrate_pages", "move_pages"),
    *("socket", "connect", "bind", "listen", "accept", "accept4"),
)
"""Calls that fail with EPERM, whatever their arguments."""

DRIVERS_CALLS = ("socket", "bind", "listen", "accept", "accept4")
"""What CUDA's driver insists on as it starts: a local socket on which to wait for other processes. Nobody can connect
to it: in a network namespace of its own there is nobody else, and `connect` stays denied."""

OWNERS_CALLS = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat", "file_setattr"),
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
)
"""What an owner may do to files that cannot be opened: refused where the uid is shared with the judge and no mount
hides the judge's files, since Landlock does not guard these calls."""

UNKNOWN = ("clone3",)
"""Calls that fail with ENOSYS."""

WORD = 0xFFFFFFFF
"""The mask of an argument of which the kernel looks at the low 32 bits alone."""

POINTER = 0xFFFFFFFF_FFFFFFFF
"""The mask of a whole argument."""

_NAMESPACE_FLAGS = 0x7E020000
_F_SETSIG, _F_SETLEASE, _F_NOTIFY = 10, 1024, 1026
_OF_ANOTHER = 0x80000000  # clocks of processes, threads and devices have negative numbers
_PRIO_PROCESS = 0
_SELF = (0,)
_TIOCSTI = 0x5412
_TIOCLINUX = 0x541C
_AF_UNIX = 1
_STREAM, _SEQPACKET = 1, 5


class Match(enum.Enum):
    """How an argument is compared with the values of a rule."""

    ANY_BIT = enum.auto()
    AMONG = enum.auto()
    NOT_AMONG = enum.auto()


@dataclass(frozen=True)
class Rule:
    """`call` fails with `code` where its argument number `argument`, under `mask`, passes the test.

    ANY_BIT has one value; a rule with the mask POINTER is NOT_AMONG (0,).
    """

    call: str
    argument: int
    test: Match
    values: tuple[int, ...]
    mask: int = WORD
    code: int = errno.EPERM


RULES = (
    Rule("clone", 0, Match.ANY_BIT, (_NAMESPACE_FLAGS,)),
    Rule("prctl", 0, Match.AMONG, (PR_SET_DUMPABLE,)),
    Rule("prctl", 0, Match.AMONG, (PR_SET_PDEATHSIG,), code=0),
    Rule("fcntl", 1, Match.AMONG, (_F_SETSIG, _F_SETLEASE, _F_NOTIFY)),
    Rule("ioctl", 1, Match.AMONG, (_TIOCSTI, _TIOCLINUX)),
    *(Rule(call, 0, Match.ANY_BIT, (_OF_ANOTHER,)) for call in ("clock_gettime", "clock_getres")),
    *(Rule(call, 0, Match.ANY_BIT, (_OF_ANOTHER,)) for call in ("clock_nanosleep", "timerfd_create")),
    *(Rule(call, 0, Match.NOT_AMONG, _SELF) for call in ("prlimit64", "sched_setscheduler")),
    *(Rule(call, 0, Match.NOT_AMONG, _SELF) for call in ("sched_setparam", "sched_setattr")),
    Rule("setpriority", 0, Match.NOT_AMONG, (_PRIO_PROCESS,)),
    Rule("setpriority", 1, Match.NOT_AMONG, _SELF),
    Rule("sendto", 4, Match.NOT_AMONG, (0,), mask=POINTER),
    Rule("socket", 0, Match.NOT_AMONG, (_AF_UNIX,)),
    Rule("socketpair", 0, Match.NOT_AMONG, (_AF_UNIX,)),
    Rule("socketpair", 1, Match.NOT_AMONG, (_STREAM, _SEQPACKET), mask=0xF),
)
"""Calls that are allowed except for some arguments."""
