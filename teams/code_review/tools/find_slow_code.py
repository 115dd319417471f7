"""The performance lens of a code review."""

from .review.lens_tool import define_lens_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

find_slow_code = define_lens_tool(
    "find_slow_code",
    "performance",
    """Find needless work in what a diff adds, such as slow loops and blocking calls in coroutines.

Only added and changed lines are reported, with severity, file, line and confidence.
Example: find_slow_code(diff="change.diff")""",
)
