"""What Python's own rules find wrong in a file, by ruff's version of Pyflakes."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ruff import find_ruff_bin  # type: ignore[import-untyped]

from nodes.tools.incident.sources import Source

RULES = "F5,F6,F7,F81,F82,B006,B015,PLE"
MAX_FILES, MAX_SLIPS = 20, 8
TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Slip:
    """A mistake in a line."""

    file: str
    line: int
    message: str


def slips(sources: Sequence[Source]) -> list[Slip]:
    """Find undefined names, wrong formats and their like; at most a few."""
    python = [source for source in sources if source.is_python and source.tree]
    found = [slip for source in python[:MAX_FILES] for slip in _slips(source)]
    return found[:MAX_SLIPS]


def _slips(source: Source) -> Iterator[Slip]:
    # The file's own words may not switch rules off, and no configuration is looked for.
    options = ["--isolated", "--no-cache", "--ignore-noqa", "--output-format", "json"]
    command = [find_ruff_bin(), "check", *options, "--select", RULES, "-"]
    try:
        done = subprocess.run(
            command, input=source.text.encode(), capture_output=True, timeout=TIMEOUT_S, check=False
        )
        told = json.loads(done.stdout or b"[]")
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return
    for item in told:
        line = item["location"]["row"]
        yield Slip(source.name, line, f"{item['message']} ({item['code']})")
