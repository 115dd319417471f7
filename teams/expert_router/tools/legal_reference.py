"""Search reference entries on law, and the user's own documents."""

from functools import partial

from .references.lookup import build_reference_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

legal_reference = partial(build_reference_tool, "legal")
