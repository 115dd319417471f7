"""Linux system calls that Python has no function for, and those that sandboxed code may not make.

Refused are those that hold memory beyond limits, those that code in a sandbox does not need and
that have had vulnerabilities, and sockets of every family but AF_UNIX: a namespace isolates IP
only, and other families can leave a virtual machine (vsock). The filter is the kernel's own
(seccomp); the numbers of the calls depend on the architecture, and on one that is not listed no
code is run.
"""

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Mapping
from typing import Final

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000

MS_NOSUID: Final = 0x2
MS_NODEV: Final = 0x4
MS_NOEXEC: Final = 0x8
MS_BIND: Final = 0x1000
MS_REC: Final = 0x4000
MS_PRIVATE: Final = 0x40000

_SYS_MOUNT_SETATTR: Final = 442
_AT_FDCWD: Final = -100
_AT_RECURSIVE: Final = 0x8000
_MOUNT_ATTR_RDONLY: Final = 0x1
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP_FILTER: Final = (22, 2)


class _MountAttr(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def unshare(flags: int) -> None:
    """Leave the namespaces of the parent for new ones."""
    _call_libc("unshare", ctypes.c_int(flags))


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or bind a path to another."""
    words = [text.encode() if text else None for text in (source, target, kind)]
    _call_libc("mount", *words, ctypes.c_ulong(flags), options.encode() if options else None)


def remount_read_only(path: str) -> None:
    """Remount a mount, and all below it, read-only and nosuid."""
    wanted = _MountAttr(set=_MOUNT_ATTR_RDONLY | MS_NOSUID)
    _call_libc(
        "syscall",
        ctypes.c_long(_SYS_MOUNT_SETATTR),
        ctypes.c_long(_AT_FDCWD),
        path.encode(),
        ctypes.c_long(_AT_RECURSIVE),
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
    )


def set_parent_death_signal(signal: int) -> None:
    """Set the signal that is received when the parent ends."""
    _call_prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal))


def set_no_new_privileges() -> None:
    """Prevent any program executed from now on from gaining privileges."""
    _call_prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1))


def set_seccomp_filter(program: object) -> None:
    """Apply a seccomp filter program to all later calls; privileges must be dropped before."""
    option, mode = _PR_SET_SECCOMP_FILTER
    _call_prctl(option, ctypes.c_ulong(mode), program)


def _call_prctl(option: int, *arguments: object) -> None:
    rest = [ctypes.c_ulong(0)] * (4 - len(arguments))
    _call_libc("prctl", ctypes.c_int(option), *arguments, *rest)


def _call_libc(name: str, *arguments: object) -> None:
    """Call a function of the C library.

    Raises:
        OSError: the call failed; the text names the function.
    """
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


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
    set_seccomp_filter(ctypes.byref(_SockFprog(len(lines), code)))
