"""Run Python in a sandbox, and report in one line how it ended."""

import asyncio
import re
import signal
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final

from nodes.errors import ToolFailed, ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line, sanitize_text
from nodes.tools.framework.isolation import run_isolated

from .limits import SANDBOX_FOLDER, SandboxLimits

LAUNCHER = f"{__package__}.launcher:run_in_sandbox"
STARTUP_S = 20.0
"""Time for what comes before the code and after it."""
MAX_REASON_CHARS = 240
REQUIREMENTS = "it takes Linux 5.12 or newer with user namespaces, on x86_64 or aarch64"

_TRACEBACK_FRAME = Pattern(rf'^[ \t]*File "{SANDBOX_FOLDER}/([^"\n]+)", line (\d+)', re.MULTILINE)
_LIMIT_HINTS: Final[Mapping[str, str]] = {
    r"^MemoryError": "a process may use {memory_mb} MB of memory",
    r"Resource temporarily unavailable|can't start new thread": (
        "it may have {max_processes} processes and threads at a time"
    ),
    r"Address family not supported|name resolution|Name or service": "it has no network",
    r"Read-only file system|Permission denied|No such file": (
        "it sees Python and the files of the request alone, and writes in its own folder alone"
    ),
    r"File too large|No space left": "{most_written}",
    r"^ModuleNotFoundError": (
        "it has Python's own library and the files of the request, no other packages"
    ),
    r"Operation not permitted": "such calls are refused to it",
    r"^EOFError": "it has no input",
}
"""The possible cause of an error, by its last line."""


class RunRefused(Exception):
    """The code was not run, since it could not be isolated."""


@dataclass(frozen=True)
class RunResult:
    """The result of a run."""

    outcome: str
    """In words, after the name of the file."""
    stdout: str
    stderr: str
    seconds: float
    is_failure: bool
    reason: str = ""
    """The last line of its error."""
    file: str = ""
    line: int | None = None
    """Location of the error, in the input files."""


async def run_python(files: Mapping[str, str], entry: str, bounds: SandboxLimits) -> RunResult:
    """Run one of some files in a sandbox that contains all of them.

    Raises:
        RunRefused: a limit cannot be set on this machine, or the code could not be started.
    """
    names = {name: make_sandbox_path(name) for name in files}
    held = {names[name]: text for name, text in files.items()}
    if len(held) < len(files):
        raise RunRefused("two of the files have the same name")
    _check_sizes(files, bounds)
    folder = await asyncio.to_thread(TemporaryDirectory, prefix="supervise-cell-")
    try:
        told = await run_isolated(
            LAUNCHER,
            timeout_s=bounds.wall_s + STARTUP_S,
            max_written_bytes=SandboxLimits().max_file_bytes,
            root=folder.name,
            files=held,
            entry=f"{SANDBOX_FOLDER}/{names[entry]}",
            bounds=asdict(bounds),
        )
        if reason := told.get("refused"):
            raise ToolRefused(reason)
    except (ToolFailed, ToolRefused) as failure:
        raise RunRefused(f"{failure}; {REQUIREMENTS}") from failure
    finally:
        await asyncio.to_thread(folder.cleanup)
    return _build_result(told, {path: name for name, path in names.items()}, bounds)


def make_sandbox_path(name: str) -> str:
    """Return the path of a material inside the sandbox: relative, and not above its folder."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..", ".")]
    return "/".join(parts) or "code.py"


def _check_sizes(files: Mapping[str, str], bounds: SandboxLimits) -> None:
    sizes = [len(text.encode(errors="replace")) for text in files.values()]
    if max(sizes) > bounds.max_file_bytes or sum(sizes) > bounds.folder_bytes:
        raise RunRefused(
            f"the files have {sum(sizes) / 1e6:.1f} MB; {_describe_size_limits(bounds)}; "
            "hand over less"
        )


def _describe_size_limits(bounds: SandboxLimits) -> str:
    each, every = bounds.max_file_bytes // 1_000_000, bounds.folder_bytes // 1_000_000
    return f"a file may have {each} MB, and all together {every} MB"


def _build_result(
    told: Mapping[str, Any], names: Mapping[str, str], bounds: SandboxLimits
) -> RunResult:
    """Return how it ended, with the files' own names in place of the paths in the sandbox."""
    out, err = sanitize_text(told["out"]), sanitize_text(told["err"])
    if told["cause"] != "end" or told["code"] <= 0:
        how, is_failure = _describe_stop(told["cause"], told.get("code", 0), bounds)
        return RunResult(how, out, err, told["seconds"], is_failure)
    reason = _find_reason(err)
    frames = [
        (names[path], int(line)) for path, line in _TRACEBACK_FRAME.findall(err) if path in names
    ]
    file, line = frames[-1] if frames else ("", None)
    how = f"ended with exit code {told['code']}"
    if reason:
        how += f": {reason}{_describe_place(file, line)}{_describe_limit(reason, bounds)}"
    return RunResult(how, out, err, told["seconds"], True, reason, file, line)


def _describe_stop(cause: str, code: int, bounds: SandboxLimits) -> tuple[str, bool]:
    if cause == "deadline":
        return f"was stopped after {bounds.wall_s:g} s, the most it may take", True
    if cause == "output":
        most = f"{bounds.max_output_bytes:,}"
        return f"was stopped: it printed more than {most} characters", True
    if code == -signal.SIGXCPU:
        return f"was stopped: it used more than {bounds.cpu_s} s of processor time", True
    if code < 0:
        return f"was ended by signal {_name_signal(-code)}", True
    return "ran to its end, with exit code 0", False


def _name_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _find_reason(err: str) -> str:
    """Return the last line of an error."""
    lines = [line for line in err.splitlines() if line.strip()]
    return sanitize_line(lines[-1], MAX_REASON_CHARS) if lines else ""


def _describe_place(file: str, line: int | None) -> str:
    return f", in line {line} of {file}" if file else ""


def _describe_limit(reason: str, bounds: SandboxLimits) -> str:
    """Return which limit may have caused an error."""
    for pattern, words in _LIMIT_HINTS.items():
        if Pattern(pattern).search(reason):
            told = words.format(
                memory_mb=bounds.memory_bytes // 1_000_000,
                max_processes=bounds.max_processes,
                most_written=_describe_size_limits(bounds),
            )
            return f" ({told})"
    return ""
