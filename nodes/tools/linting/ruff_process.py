"""Run ruff over the files of a folder, without any configuration."""

import json
import subprocess
from pathlib import Path
from typing import Any

from ruff import find_ruff_bin  # type: ignore[import-untyped]

TIMEOUT_S = 30.0


def run_ruff(folder: Path, *options: str) -> list[dict[str, Any]]:
    """Return ruff's results, from its JSON output."""
    command = [
        *(find_ruff_bin(), "check", "--isolated", "--no-cache", "--exit-zero", "--quiet"),
        *("--output-format", "json", "--no-respect-gitignore", *options, "."),
    ]
    done = subprocess.run(
        command, cwd=folder, env={}, capture_output=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode:
        raise RuntimeError(f"ruff failed: {done.stderr.decode(errors='replace')[:300]}")
    hits: list[dict[str, Any]] = json.loads(done.stdout)
    return hits
