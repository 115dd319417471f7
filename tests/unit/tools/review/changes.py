"""Diffs for tests, made of the two sides of files."""

import difflib
import json
from pathlib import Path
from typing import Any

from nodes.tools.framework.settings import ToolSettings
from tests.shipped_tools import load_shipped_tools


def make_diff(**files: tuple[str, str]) -> str:
    """Make a diff of files by name, `__` for a dot: the text before and the text after."""
    return "".join(make_file_diff(name.replace("__", "."), *sides) for name, sides in files.items())


def make_file_diff(name: str, before: str, after: str) -> str:
    """Make the diff of one file."""
    return "".join(
        difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            f"a/{name}" if before else "/dev/null",
            f"b/{name}" if after else "/dev/null",
        )
    )


async def call_review_tool(
    tool: str, materials: dict[str, str], repository: Path | None = None
) -> Any:
    """Ask a tool as a worker does; what it says must be small enough to be read."""
    (loaded,) = load_shipped_tools([tool], ToolSettings(repository=repository))
    answer = await loaded.ainvoke({"materials": materials})
    assert len(json.dumps(answer)) < 20_000
    return answer


def list_findings(answer: dict[str, Any], least: int = 80) -> set[str]:
    """Name the findings of an answer from a confidence on: rule and line."""
    return {
        f"{finding['message'].rsplit('[', 1)[1].split(']')[0]}:{finding['line']}"
        for finding in answer["findings"]
        if finding["confidence"] >= least
    }
