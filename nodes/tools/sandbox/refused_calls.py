"""The calls to Linux that code in a cell may not make: those that hold memory beyond the limits.

Also those that nothing in a cell needs and that have had holes, and sockets of every family but
that between processes: a namespace holds back IP alone, and a virtual machine can be left over
others (vsock). The filter is the kernel's own (seccomp); the numbers of the calls depend on the
machine, and on one that is not listed no code is run.
"""

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Mapping
from typing import Final

from nodes.tools.sandbox import kernel

_MACHINES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_REFUSED: Final[Mapping[str, tuple[int, int]]] = {
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
_SOCKETS: Final = ((41, 198), (53, 199))
"""`socket` and `socketpair`, which take the family as their first argument."""
_OTHER_CALLS: Final = 0x40000000
"""From here on the numbers are those of a second way to call, on x86_64."""
_LOAD, _JUMP_EQUAL, _JUMP_FROM, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _MACHINE_AT, _FAMILY_AT = 0, 4, 16


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def refuse_calls() -> None:
    """Refuse them to this process and to whatever comes of it.

    Raises:
        OSError: the machine is not known, or its kernel has no filters.
    """
    machine = os.uname().machine
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no list of system calls for {machine}")
    column = list(_MACHINES).index(machine)
    numbers = [each[column] for each in _REFUSED.values()]
    lines = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_JUMP_EQUAL, 1, 0, _MACHINES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_FROM, 0, 1, _OTHER_CALLS),
        (_RETURN, 0, 0, _KILL),
    ]
    for number in numbers:
        lines += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | errno.EPERM)]
    for number in (each[column] for each in _SOCKETS):
        lines += [
            (_JUMP_EQUAL, 0, 4, number),
            (_LOAD, 0, 0, _FAMILY_AT),
            (_JUMP_EQUAL, 1, 0, socket.AF_UNIX),
            (_RETURN, 0, 0, _ERROR | errno.EAFNOSUPPORT),
            (_RETURN, 0, 0, _ALLOW),
        ]
    lines.append((_RETURN, 0, 0, _ALLOW))
    code = b"".join(struct.pack("=HBBI", *line) for line in lines)
    kernel.filter_calls(ctypes.byref(_Program(len(lines), code)))
