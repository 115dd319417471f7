"""Run Python code in a sandbox without network, where the user allows it."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import BaseTool, tool
from pydantic import Field

from nodes.errors import ToolFailed
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.argument_types import FileName
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_report import ToolReport

from .materials.selection import select_modules
from .sandbox.limits import SandboxLimits
from .sandbox.runner import RunRefused, RunResult, run_python

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
LIMITS = SandboxLimits()
MAX_RUNS = 3
MAX_SHOWN_CHARS = 2000
"""Limit on what one run printed, and on its errors."""
MAX_CLAIMED_LINES = 8
MAX_LINE_CHARS = 200
DISABLED_GAP = (
    "The code was not run: running code is off (setting: SUPERVISE_RUN_CODE=true). Where it is on, "
    "code runs without network, on copies, and within limits."
)

_MAIN_GUARD = Pattern(r"^if\s+__name__\s*==", re.MULTILINE)


def run_code(settings: ToolSettings) -> BaseTool:
    """Build the tool; code is run only if `settings.run_code` allows it."""

    @tool("run_code")
    async def run(
        code: Annotated[str, Field(description="A script that you wrote, instead of a file")] = "",
        files: Annotated[
            list[FileName] | None,
            Field(description="Names of the Python files to run; all scripts by default"),
        ] = None,
        materials: Materials = None,
    ) -> dict[str, Any]:
        """Run Python and return what it prints, or its error with file and line, if allowed.

        All files are beside it, and it has the standard library; it has no network and no
        input, and must end within seconds.
        """
        modules = select_modules(code, files or (), materials)
        if not settings.run_code:
            return ToolReport(gaps=[DISABLED_GAP]).to_json()
        held = {**(materials or {}), **modules}
        reply = ToolReport()
        for entry in _choose_entries(modules, bool(files), reply):
            try:
                ending = await run_python(held, entry, LIMITS)
            except RunRefused as problem:
                reply.failures.append(f"{entry} was not run: {problem}")
            else:
                _report_run(reply, entry, ending)
        if reply.failures and not reply.lines:
            raise ToolFailed("; ".join(reply.failures))
        return reply.to_json()

    return run


def _choose_entries(modules: Mapping[str, str], is_named: bool, reply: ToolReport) -> list[str]:
    """Choose what to run: the files that are named; else the scripts, if there are any."""
    python = {name: text for name, text in modules.items() if not name.endswith(".pyi")}
    scripts = {name: text for name, text in python.items() if _MAIN_GUARD.search(text)}
    chosen = list(python if is_named else scripts or python)
    if len(chosen) > MAX_RUNS:
        reply.gaps.append(f"Not run: {', '.join(chosen[MAX_RUNS:])}; name the one to run.")
    return chosen[:MAX_RUNS]


def _report_run(reply: ToolReport, entry: str, ending: RunResult) -> None:
    reply.lines.append(f"{entry} {ending.outcome}.")
    for title, printed in (("It printed", ending.stdout), ("Its errors", ending.stderr)):
        if printed.strip():
            reply.lines += ["", f"{title}:", "", _format_code_block(printed), ""]
    reply.add_claim(f"When it was run, {entry} {ending.outcome}.", entry)
    lines = [line for line in ending.stdout.splitlines() if line.strip()]
    for line in lines[:MAX_CLAIMED_LINES]:
        reply.add_claim(f"{entry} prints: {sanitize_line(line, MAX_LINE_CHARS)}", entry)
    if ending.is_failure:
        message = f"when run, it {ending.outcome}"
        reply.add_finding("high", message, ending.file or entry, "", ending.line)


def _format_code_block(printed: str) -> str:
    """Return what was printed as a block of code, whatever it contains."""
    shown = printed.strip("\n")
    lines = shown[:MAX_SHOWN_CHARS].splitlines()
    if len(shown) > MAX_SHOWN_CHARS:
        lines.append(f"[{len(shown) - MAX_SHOWN_CHARS} more characters]")
    return "\n".join(f"    {line}" for line in lines)
