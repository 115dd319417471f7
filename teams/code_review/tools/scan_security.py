"""The security lens of a code review."""

from langchain_core.tools import BaseTool

from nodes.tools.framework.settings import ToolSettings

from .review.lens_tool import build_lens_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


def scan_security(settings: ToolSettings) -> BaseTool:
    """Scan what a diff adds for code that can be attacked and for secrets.

    Only added and changed lines are reported, with severity, file, line and confidence.
    Example: scan_security(diff="change.diff")
    """
    return build_lens_tool(scan_security, "security", settings)
