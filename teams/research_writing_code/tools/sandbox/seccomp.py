"""The Linux system calls that sandboxed code may not make: those that hold memory beyond limits.

Also those that code in a sandbox does not need and that have had vulnerabilities, and sockets of
every family but AF_UNIX: a namespace isolates IP only, and other families can leave a virtual
machine (vsock). The filter is the kernel's own (seccomp); the numbers of the calls depend on the
architecture, and on one that is not listed no code is run.
"""

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Mapping
from typing import Final

from . import kernel

_AUDIT_ARCHS: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_REFUSED_CALLS: Final[Mapping[str, tuple[int, int]]] = {
    "add_key": (248, 217),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "msgget": (68, 186),
    "perf_event_open": (298, 241),
    "ptrace": (101, 117),
    "request_key": (249, 218),
    "semget": (64, 190),
    "setns": (308, 268),
    "shmget": (29, 194),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
"""Numbers on x86_64 and on aarch64."""
_SOCKET_CALLS: Final = ((41, 198), (53, 199))
"""`socket` and `socketpair`, which take the family as their first argument."""
_X32_SYSCALL_BIT: Final = 0x40000000
"""From here on the numbers belong to the x32 ABI, on x86_64."""
_BPF_LOAD, _BPF_JUMP_EQUAL, _BPF_JUMP_GREATER_EQUAL, _BPF_RETURN = 0x20, 0x15, 0x35, 0x06
_SECCOMP_RET_ALLOW, _SECCOMP_RET_ERRNO, _SECCOMP_RET_KILL_PROCESS = (
    0x7FFF0000,
    0x00050000,
    0x80000000,
)
_NR_OFFSET, _ARCH_OFFSET, _FIRST_ARGUMENT_OFFSET = 0, 4, 16


class _SockFprog(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def refuse_system_calls() -> None:
    """Refuse these calls to this process and its descendants.

    Raises:
        OSError: the architecture is not known, or its kernel has no filters.
    """
    machine = os.uname().machine
    if machine not in _AUDIT_ARCHS:
        raise OSError(errno.ENOSYS, f"no list of system calls for {machine}")
    column = list(_AUDIT_ARCHS).index(machine)
    numbers = [each[column] for each in _REFUSED_CALLS.values()]
    lines = [
        (_BPF_LOAD, 0, 0, _ARCH_OFFSET),
        (_BPF_JUMP_EQUAL, 1, 0, _AUDIT_ARCHS[machine]),
        (_BPF_RETURN, 0, 0, _SECCOMP_RET_KILL_PROCESS),
        (_BPF_LOAD, 0, 0, _NR_OFFSET),
        (_BPF_JUMP_GREATER_EQUAL, 0, 1, _X32_SYSCALL_BIT),
        (_BPF_RETURN, 0, 0, _SECCOMP_RET_KILL_PROCESS),
    ]
    for number in numbers:
        lines += [
            (_BPF_JUMP_EQUAL, 0, 1, number),
            (_BPF_RETURN, 0, 0, _SECCOMP_RET_ERRNO | errno.EPERM),
        ]
    for number in (each[column] for each in _SOCKET_CALLS):
        lines += [
            (_BPF_JUMP_EQUAL, 0, 4, number),
            (_BPF_LOAD, 0, 0, _FIRST_ARGUMENT_OFFSET),
            (_BPF_JUMP_EQUAL, 1, 0, socket.AF_UNIX),
            (_BPF_RETURN, 0, 0, _SECCOMP_RET_ERRNO | errno.EAFNOSUPPORT),
            (_BPF_RETURN, 0, 0, _SECCOMP_RET_ALLOW),
        ]
    lines.append((_BPF_RETURN, 0, 0, _SECCOMP_RET_ALLOW))
    code = b"".join(struct.pack("=HBBI", *line) for line in lines)
    kernel.set_seccomp_filter(ctypes.byref(_SockFprog(len(lines), code)))
