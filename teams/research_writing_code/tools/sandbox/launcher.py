"""The child process that runs code in a sandbox, and monitors it.

    launcher -> monitor (new namespaces, builds the sandbox) -> init -> the code

When one ends, all after it end: the kernel kills what is left in a sandbox whose init has ended.
"""

import json
import os
import selectors
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, NoReturn

from nodes.limits.nesting import parse_json

from . import kernel, namespaces
from .limits import SandboxLimits

GRACE_S: Final = 2.0
"""For the last output, after a sandbox was killed."""
OWN_PROCESSES: Final = 2


@dataclass(frozen=True)
class _SandboxRun:
    """A run, as the processes below this one see it."""

    files: Mapping[str, str]
    entry: str
    root: str
    bounds: SandboxLimits
    python: str
    is_root: bool
    report_fd: int
    """File descriptor where they report errors, or how the code ended."""
    output_fds: tuple[int, int]


def run_in_sandbox(**request: Any) -> dict[str, Any]:
    """Answer `{files, entry, root, bounds}` with how it ended, or with why it cannot be run."""
    bounds = SandboxLimits(**request.pop("bounds"))
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    words, told = os.pipe()
    ready, is_ready = os.pipe()
    go, may_go = os.pipe()
    printed, prints = os.pipe()
    erred, errs = os.pipe()
    errand = _SandboxRun(
        **request,
        bounds=bounds,
        python=python,
        is_root=os.geteuid() == 0,
        report_fd=told,
        output_fds=(prints, errs),
    )
    warden = os.fork()
    if warden == 0:
        os.close(may_go)
        _run_monitor(errand, is_ready, go)
    for end in (told, is_ready, go, prints, errs):
        os.close(end)
    try:
        if os.read(ready, 1):
            namespaces.map_user_ids(warden)
            os.write(may_go, b".")
        return _watch_output(warden, {printed: bytearray(), erred: bytearray()}, words, bounds)
    except OSError as error:
        return {"refused": f"the sandbox cannot be isolated: {error}"}
    finally:
        _kill_process(warden)


def _run_monitor(errand: _SandboxRun, is_ready: int, go: int) -> NoReturn:
    """Run as monitor: build the sandbox, start its init, and end with it."""
    try:
        kernel.unshare(namespaces.NAMESPACES)
        kernel.set_parent_death_signal(signal.SIGKILL)
        os.write(is_ready, b".")
        if os.read(go, 1):
            quiet = os.open(os.devnull, os.O_RDONLY)
            namespaces.build_root(errand.root, sys.base_prefix, errand.files, errand.bounds)
            init = os.fork()
            if init == 0:
                _run_init(errand, quiet)
            for stream in errand.output_fds:
                os.close(stream)
            os.waitpid(init, 0)
    except BaseException as error:
        _write_report(errand, {"refused": f"the sandbox cannot be isolated: {error}"})
    os._exit(0)


def _run_init(errand: _SandboxRun, quiet: int) -> NoReturn:
    """Run as the sandbox's first process: start the code, and end when it ends."""
    try:
        kernel.set_parent_death_signal(signal.SIGKILL)
        # Of the code's signals, only one with a handler reaches the first process.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        code = os.fork()
        if code == 0:
            _execute_code(errand, quiet)
        ended = 0
        while ended != code:
            ended, status = os.waitpid(-1, 0)
        _write_report(errand, {"code": os.waitstatus_to_exitcode(status)})
    except BaseException as error:
        _write_report(errand, {"refused": f"the sandbox cannot be isolated: {error}"})
    os._exit(0)


def _execute_code(errand: _SandboxRun, quiet: int) -> NoReturn:
    """Execute the code: no environment, no open file but its streams, all limits set."""
    try:
        for target, stream in enumerate((quiet, *errand.output_fds)):
            os.dup2(stream, target)
        # The pipe to `report_fd` closes by itself when the code starts.
        os.closerange(3, errand.report_fd)
        os.closerange(errand.report_fd + 1, os.sysconf("SC_OPEN_MAX"))
        namespaces.confine_process(errand.bounds, apart=0 if errand.is_root else OWN_PROCESSES)
        command = [errand.python, "-E", "-s", "-B", "-X", "utf8", errand.entry]
        os.execve(errand.python, command, {})
    except BaseException as error:
        _write_report(errand, {"refused": f"the limits cannot be set: {error}"})
    os._exit(0)


def _watch_output(
    warden: int, read: dict[int, bytearray], words: int, bounds: SandboxLimits
) -> dict[str, Any]:
    """Read what is printed until the end; kill the run at the deadline or the output limit."""
    began, cause = monotonic(), ""
    until = began + bounds.wall_s
    with selectors.DefaultSelector() as selector:
        for stream in read:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and (left := until - monotonic()) > 0:
            for key, _ in selector.select(left):
                chunk = os.read(key.fd, 65_536)
                read[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
            if not cause and sum(map(len, read.values())) > bounds.max_output_bytes:
                cause, until = "output", monotonic() + GRACE_S
                _kill_process(warden)
        if selector.get_map() and not cause:
            cause = "deadline"
    out, err = (bytes(text[: bounds.max_output_bytes]) for text in read.values())
    ended = {
        "cause": cause or "end",
        "seconds": round(monotonic() - began, 3),
        "out": out.decode(errors="replace"),
        "err": err.decode(errors="replace"),
    }
    return ended if cause else {**ended, **_read_reports(words)}


def _read_reports(words: int) -> dict[str, Any]:
    """Read the reports of the sandbox's processes: a refusal before all else."""
    said = b""
    while chunk := os.read(words, 65_536):
        said += chunk
    lines = [parse_json(line) for line in said.splitlines()]
    refused = [line for line in lines if "refused" in line]
    return next(iter([*refused, *lines]), {"refused": "the sandbox ended without a report"})


def _write_report(errand: _SandboxRun, word: Mapping[str, Any]) -> None:
    with suppress(OSError):
        os.write(errand.report_fd, json.dumps(word).encode() + b"\n")


def _kill_process(warden: int) -> None:
    with suppress(OSError):
        os.kill(warden, signal.SIGKILL)
