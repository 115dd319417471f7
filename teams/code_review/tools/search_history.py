"""The history lens of a code review."""

from .review.lens_tool import define_lens_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

search_history = define_lens_tool(
    "search_history",
    "history",
    """Search the repository's history for fixes that a diff undoes, and who knows the files.

Lines of other materials that name a changed file, such as comments of earlier reviews, are listed.
Without a repository (setting: SUPERVISE_REPOSITORY) no history is searched, and the gaps say so.
Example: search_history(diff="change.diff")""",
)
