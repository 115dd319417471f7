"""The calls to Linux that Python has no function for."""

import ctypes
import os
from typing import Final

NEW_MOUNTS: Final = 0x00020000
NEW_NAMES: Final = 0x04000000
NEW_IPC: Final = 0x08000000
NEW_USERS: Final = 0x10000000
NEW_PIDS: Final = 0x20000000
NEW_NETWORK: Final = 0x40000000

NO_SETUID: Final = 0x2
NO_DEVICES: Final = 0x4
NO_PROGRAMS: Final = 0x8
BIND: Final = 0x1000
RECURSIVE: Final = 0x4000
PRIVATE: Final = 0x40000

_MOUNT_SETATTR: Final = 442
_HERE: Final = -100
_WHOLE_TREE: Final = 0x8000
_READ_ONLY: Final = 0x1
_DEATH_SIGNAL: Final = 1
_NO_NEW_PRIVILEGES: Final = 38
_FILTER_CALLS: Final = (22, 2)


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def unshare(flags: int) -> None:
    """Leave the namespaces of the parent for new ones."""
    _call("unshare", ctypes.c_int(flags))


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or bind a path to another."""
    words = [text.encode() if text else None for text in (source, target, kind)]
    _call("mount", *words, ctypes.c_ulong(flags), options.encode() if options else None)


def seal(path: str) -> None:
    """Make a mount, and all below it, read only and deaf to set-user-id bits."""
    wanted = _MountAttributes(set=_READ_ONLY | NO_SETUID)
    _call(
        "syscall",
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_long(_HERE),
        path.encode(),
        ctypes.c_long(_WHOLE_TREE),
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
    )


def die_with_parent(signal: int) -> None:
    """Get a signal when the parent ends."""
    _control(_DEATH_SIGNAL, ctypes.c_ulong(signal))


def renounce_privileges() -> None:
    """Gain nothing by whatever program is executed from here on."""
    _control(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1))


def filter_calls(program: object) -> None:
    """Hold all calls from here on to a filter program; privileges must have been renounced."""
    option, mode = _FILTER_CALLS
    _control(option, ctypes.c_ulong(mode), program)


def _control(option: int, *arguments: object) -> None:
    rest = [ctypes.c_ulong(0)] * (4 - len(arguments))
    _call("prctl", ctypes.c_int(option), *arguments, *rest)


def _call(name: str, *arguments: object) -> None:
    """Call a function of the C library.

    Raises:
        OSError: it says no; its text names the function.
    """
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
