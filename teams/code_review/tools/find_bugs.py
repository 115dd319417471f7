"""The bugs lens of a code review."""

from .review.lens_tool import define_lens_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

find_bugs = define_lens_tool(
    "find_bugs",
    "bugs",
    """Find defects in the logic of what a diff adds, such as mutable defaults or wrong formats.

Only added and changed lines are reported, with severity, file, line and confidence.
Example: find_bugs(diff="change.diff")""",
)
