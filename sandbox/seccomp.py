"""The seccomp filter, as a program for the kernel, of the rules in `sandbox.seccomp_rules`.

A foreign architecture or the x32 calls kill.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Sequence

from sandbox import syscall_table
from sandbox.seccomp_rules import DENIED, POINTER, RULES, UNKNOWN, WORD, Match, Rule
from sandbox.syscalls import call

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


def _on(number: int, body: _Program) -> _Program:
    """`body` where the call is `number`; the call's number is loaded before and after."""
    return [_op(_JEQ, number, 0, len(body) + 1), *body, _op(_LOAD, _NR_OFFSET)]


def _body(rule: Rule) -> _Program:
    """Fail where the rule says so. Only the words that the kernel looks at are compared."""
    low = _ARGUMENTS_OFFSET + 8 * rule.argument
    offsets = (low, low + 4) if rule.mask == POINTER else (low,)
    return [op for offset in offsets for op in (_op(_LOAD, offset), *_compare(rule))]


def _compare(rule: Rule) -> _Program:
    masked = [_op(_AND, rule.mask)] if rule.mask < WORD else []
    match rule.test:
        case Match.ANY_BIT:
            return [*masked, _op(_JSET, rule.values[0], 0, 1), _fail(rule.code)]
        case Match.AMONG:
            return [*masked, *(op for v in rule.values for op in (_op(_JEQ, v, 0, 1), _fail(rule.code)))]
        case Match.NOT_AMONG:
            skips = range(len(rule.values), 0, -1)
            return [*masked, *map(lambda v, n: _op(_JEQ, v, n, 0), rule.values, skips), _fail(rule.code)]


def program(machine: str, also_denied: Sequence[str] = (), not_denied: Sequence[str] = ()) -> bytes:
    """The filter for a machine ("x86_64", "aarch64"), as an array of struct sock_filter.

    also_denied: calls that fail with EPERM besides those of `seccomp_rules`; not_denied: calls that do not, though
    they are among those. Rules about their arguments hold for all.
    """
    code: _Program = [
        _op(_LOAD, _ARCH_OFFSET),
        _op(_JEQ, _AUDIT_ARCH[machine], 1, 0),
        _op(_RET, _KILL_PROCESS),
        _op(_LOAD, _NR_OFFSET),
    ]
    if machine == "x86_64":
        code += [_op(_JGE, _X32_BIT, 0, 1), _op(_RET, _KILL_PROCESS)]
    denied = [name for name in (*DENIED, *also_denied) if name not in not_denied]
    for names, error in ((denied, errno.EPERM), (UNKNOWN, errno.ENOSYS)):
        for name in names:
            number = syscall_table.number(name, machine)
            if number is not None:
                code += [_op(_JEQ, number, 0, 1), _fail(error)]
    for rule in RULES:
        number = syscall_table.number(rule.call, machine)
        if number is not None:
            code += _on(number, _body(rule))
    code.append(_op(_RET, _ALLOW))
    return b"".join(code)


class _SockFprog(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(also_denied: Sequence[str] = (), not_denied: Sequence[str] = ()) -> None:
    """Put the filter, as `program` makes it, on the calling thread, for good. Needs no-new-privileges. Raises OSError.

    SPEC_ALLOW keeps the kernel from slowing the process down with speculation mitigations that are of use only
    between parts of one process; a candidate is timed as it would run outside.
    """
    code = program(syscall_table.machine(), also_denied, not_denied)
    request = _SockFprog(len(code) // 8, code)
    call("seccomp", _SECCOMP_SET_MODE_FILTER, _FLAG_SPEC_ALLOW, ctypes.byref(request))
