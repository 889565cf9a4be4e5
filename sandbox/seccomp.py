"""The seccomp filter: system calls that sandboxed code has no use for, or that would break a promise.

Denied calls fail with EPERM; clone3 with ENOSYS, so that the C library falls back to clone, whose flags can be
checked; a foreign architecture or the x32 calls kill. Beyond the usual (namespaces, mounts, modules, keys, bpf,
tracing, sockets) these matter to the judge: whatever could send SIGCONT to a frozen process from the kernel
(timer_create, mq_notify, F_SETSIG), write into its memory while it is frozen (io_uring, io_submit), hide its
memory (PR_SET_DUMPABLE, memfd_secret), or leave its cores (sched_setaffinity). PR_SET_PDEATHSIG is answered
with success and does nothing.
"""

from __future__ import annotations

import ctypes
import errno
import struct

from sandbox import syscall_table
from sandbox.syscalls import PR_SET_DUMPABLE, PR_SET_PDEATHSIG, call

DENIED = (
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit"),
    *("bpf", "userfaultfd", "perf_event_open", "fanotify_init", "lookup_dcookie", "syslog"),
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
    *("timer_create", "mq_open", "mq_notify", "shmget", "msgget", "semget", "sched_setaffinity"),
    *("socket", "connect", "bind", "listen", "accept", "accept4"),
)

_NAMESPACE_FLAGS = 0x7E020000
_F_SETSIG = 10
_TIOCSTI = 0x5412
_TIOCLINUX = 0x541C
_AF_UNIX = 1
_STREAM, _SEQPACKET = 1, 5

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000
_ALLOW = 0x7FFF0000

_LOAD, _JEQ, _JGE, _JSET, _AND, _RET = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NR_OFFSET, _ARCH_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16

_SECCOMP_SET_MODE_FILTER = 1
_FLAG_SPEC_ALLOW = 4

_Program = list[bytes]


def _op(code: int, k: int, jt: int = 0, jf: int = 0) -> bytes:
    return struct.pack("HBBI", code, jt, jf, k)


def _fail(code: int) -> bytes:
    return _op(_RET, _ERRNO | code)


def _low(argument: int) -> bytes:
    return _op(_LOAD, _ARGUMENTS_OFFSET + 8 * argument)


def _high(argument: int) -> bytes:
    return _op(_LOAD, _ARGUMENTS_OFFSET + 8 * argument + 4)


def _on(number: int, body: _Program) -> _Program:
    """`body` where the call is `number`; the call's number is loaded before and after."""
    return [_op(_JEQ, number, 0, len(body) + 1), *body, _op(_LOAD, _NR_OFFSET)]


def _equal(argument: int, value: int, code: int) -> _Program:
    return [_low(argument), _op(_JEQ, value, 0, 1), _fail(code)]


def _argument_rules() -> dict[str, _Program]:
    """Calls that are allowed except for some arguments. Only the words that the kernel looks at are compared."""
    return {
        "clone": [_low(0), _op(_JSET, _NAMESPACE_FLAGS, 0, 1), _fail(errno.EPERM)],
        "clone3": [_fail(errno.ENOSYS)],
        "prctl": _equal(0, PR_SET_DUMPABLE, errno.EPERM) + _equal(0, PR_SET_PDEATHSIG, 0),
        "fcntl": _equal(1, _F_SETSIG, errno.EPERM),
        "ioctl": _equal(1, _TIOCSTI, errno.EPERM) + _equal(1, _TIOCLINUX, errno.EPERM),
        "sendto": [
            *(_low(4), _op(_JEQ, 0, 1, 0), _fail(errno.EPERM)),
            *(_high(4), _op(_JEQ, 0, 1, 0), _fail(errno.EPERM)),
        ],
        "socketpair": [
            *(_low(0), _op(_JEQ, _AF_UNIX, 1, 0), _fail(errno.EPERM)),
            *(_low(1), _op(_AND, 0xF), _op(_JEQ, _STREAM, 2, 0), _op(_JEQ, _SEQPACKET, 1, 0)),
            _fail(errno.EPERM),
        ],
    }


def program(machine: str) -> bytes:
    """The filter for a machine ("x86_64", "aarch64"), as an array of struct sock_filter."""
    code: _Program = [
        _op(_LOAD, _ARCH_OFFSET),
        _op(_JEQ, _AUDIT_ARCH[machine], 1, 0),
        _op(_RET, _KILL_PROCESS),
        _op(_LOAD, _NR_OFFSET),
    ]
    if machine == "x86_64":
        code += [_op(_JGE, _X32_BIT, 0, 1), _op(_RET, _KILL_PROCESS)]
    for name in DENIED:
        number = syscall_table.number(name, machine)
        if number is not None:
            code += [_op(_JEQ, number, 0, 1), _fail(errno.EPERM)]
    for name, body in _argument_rules().items():
        number = syscall_table.number(name, machine)
        if number is not None:
            code += _on(number, body)
    code.append(_op(_RET, _ALLOW))
    return b"".join(code)


class _SockFprog(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install() -> None:
    """Put the filter on the calling thread, for good. Needs no-new-privileges. Raises OSError.

    SPEC_ALLOW keeps the kernel from slowing the process down with speculation mitigations that are of use only
    between parts of one process; a candidate is timed as it would run outside.
    """
    code = program(syscall_table.machine())
    request = _SockFprog(len(code) // 8, code)
    call("seccomp", _SECCOMP_SET_MODE_FILTER, _FLAG_SPEC_ALLOW, ctypes.byref(request))
