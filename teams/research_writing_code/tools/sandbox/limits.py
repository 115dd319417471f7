"""Limits for code that is run."""

from dataclasses import dataclass
from typing import Final

SANDBOX_FOLDER: Final = "/cell"
"""Folder of the code and its files, as the code sees it."""


@dataclass(frozen=True, kw_only=True)
class SandboxLimits:
    """The limits of one run; code for which one of them cannot be set is not run."""

    wall_s: float = 10.0
    """Wall clock time from the first instruction to the last."""
    cpu_s: int = 5
    """CPU time of each process."""
    memory_bytes: int = 256_000_000
    """Memory of each process, Python itself included."""
    max_processes: int = 8
    """Processes and threads together."""
    max_file_bytes: int = 8_000_000
    folder_bytes: int = 16_000_000
    """Size of all files together, including the input files; they are kept in memory."""
    max_open_files: int = 64
    max_output_bytes: int = 200_000
    """Size of its output, errors included."""
