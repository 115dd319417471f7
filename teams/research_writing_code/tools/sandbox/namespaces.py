"""The sandbox for code: a root file system of its own with Python and the input files.

this machine            the sandbox
------------            -----------
/usr /lib* Python  ->   the same, read only
/dev/null …        ->   the same
all else                is not there: no home, no /proc, no network, no other process
                        /cell: in memory, of limited size, the only place to write
"""

import os
import resource
import signal
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from . import kernel
from .kernel import refuse_system_calls
from .limits import SANDBOX_FOLDER, SandboxLimits

SANDBOX_UID: Final = 1000
"""User id inside the sandbox."""
NOBODY_UID: Final = 65534
"""User id outside the sandbox, where root starts it."""
HOST_NAME: Final = "cell"
"""Host name, as the code sees it."""
NAMESPACES: Final = (
    kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWNS
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNET
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUTS
)
_LIBRARIES: Final = ("/usr", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache")
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


def map_user_ids(pid: int) -> None:
    """Map, from outside, the users of a process's new namespace."""
    uid, gid = os.geteuid(), os.getegid()
    users, groups = f"{SANDBOX_UID} {uid} 1\n", f"{SANDBOX_UID} {gid} 1\n"
    if uid == 0:
        # Limits on the number of processes do not apply to root, so the code must be another user.
        users = groups = f"0 0 1\n{SANDBOX_UID} {NOBODY_UID} 1\n"
    else:
        Path(f"/proc/{pid}/setgroups").write_text("deny")
    Path(f"/proc/{pid}/uid_map").write_text(users)
    Path(f"/proc/{pid}/gid_map").write_text(groups)


def build_root(root: str, python: str, files: Mapping[str, str], bounds: SandboxLimits) -> None:
    """Mount the sandbox below a folder and enter it."""
    # Whatever the user's own umask: if root builds the sandbox, another user has to read it.
    os.umask(0o022)
    socket.sethostname(HOST_NAME)
    kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    limited = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("tmpfs", root, "tmpfs", limited, "size=1m,mode=755")
    _bind_paths(root, _drop_nested_paths([*_LIBRARIES, *_DEVICES, os.path.realpath(python)]))
    work = f"{root}{SANDBOX_FOLDER}"
    os.mkdir(work)
    kernel.remount_read_only(root)
    options = (
        f"size={bounds.folder_bytes},nr_inodes=1024,mode=700,uid={SANDBOX_UID},gid={SANDBOX_UID}"
    )
    kernel.mount("tmpfs", work, "tmpfs", limited | kernel.MS_NOEXEC, options)
    for name, text in files.items():
        path = Path(work, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
    # Without privileges no process can leave it, nor create a user namespace inside it.
    os.chroot(root)
    os.chdir(SANDBOX_FOLDER)


def confine_process(bounds: SandboxLimits, *, apart: int) -> None:
    """Set the limits of this process and become the sandbox's user; this cannot be reversed.

    Args:
        apart: processes of the sandbox's user that are not the code's.
    """
    os.setsid()
    if os.getuid() == 0:
        os.setgroups([])
    os.setresgid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID)
    os.setresuid(SANDBOX_UID, SANDBOX_UID, SANDBOX_UID)
    limits = {
        resource.RLIMIT_CPU: bounds.cpu_s,
        resource.RLIMIT_AS: bounds.memory_bytes,
        resource.RLIMIT_FSIZE: bounds.max_file_bytes,
        resource.RLIMIT_NOFILE: bounds.max_open_files,
        resource.RLIMIT_NPROC: bounds.max_processes + apart,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
    }
    for limit, most in limits.items():
        resource.setrlimit(limit, (most, most + (limit == resource.RLIMIT_CPU)))
    kernel.set_parent_death_signal(signal.SIGKILL)
    kernel.set_no_new_privileges()
    refuse_system_calls()


def _drop_nested_paths(paths: Sequence[str]) -> list[str]:
    """Keep the paths that exist and are not inside another one."""
    found = [path for path in dict.fromkeys(paths) if os.path.lexists(path)]
    return [
        path
        for path in found
        if not any(path != other and Path(path).is_relative_to(other) for other in found)
    ]


def _bind_paths(root: str, paths: Sequence[str]) -> None:
    for path in paths:
        inside = Path(f"{root}{path}")
        inside.parent.mkdir(parents=True, exist_ok=True)
        if os.path.islink(path):
            inside.symlink_to(os.readlink(path))
            continue
        if os.path.isdir(path):
            inside.mkdir(exist_ok=True)
        else:
            inside.touch()
        kernel.mount(path, str(inside), flags=kernel.MS_BIND | kernel.MS_REC)
