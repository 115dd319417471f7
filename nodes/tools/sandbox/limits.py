"""What code that is run may use."""

from dataclasses import dataclass
from typing import Final

SANDBOX_FOLDER: Final = "/cell"
"""Where the code and its files lie, as it sees them."""


@dataclass(frozen=True, kw_only=True)
class SandboxLimits:
    """The limits of one run; code that would run without one of them is not run."""

    wall_s: float = 10.0
    """From the first instruction to the last, however little of it is computing."""
    cpu_s: int = 5
    """Of each process."""
    memory_bytes: int = 256_000_000
    """Of each process, Python itself included."""
    max_processes: int = 8
    """Processes and threads together."""
    max_file_bytes: int = 8_000_000
    folder_bytes: int = 16_000_000
    """Of all files together, those it was given included; they are kept in memory."""
    max_open_files: int = 64
    max_output_bytes: int = 200_000
    """Printed by it, errors included."""
