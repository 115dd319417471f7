"""Linux system calls that Python has no function for."""

import ctypes
import os
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
