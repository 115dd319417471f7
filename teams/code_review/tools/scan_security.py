"""The security lens of a code review."""

from .review.lens_tool import define_lens_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

scan_security = define_lens_tool(
    "scan_security",
    "security",
    """Scan what a diff adds for code that can be attacked and for secrets.

Only added and changed lines are reported, with severity, file, line and confidence.
Example: scan_security(diff="change.diff")""",
)
