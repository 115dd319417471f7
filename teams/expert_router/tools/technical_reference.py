"""Search reference entries on technology, and the user's own documents."""

from functools import partial

from .references.lookup import build_reference_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

technical_reference = partial(build_reference_tool, "technical")
