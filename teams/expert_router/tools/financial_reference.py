"""Search reference entries on finance and tax, and the user's own documents."""

from functools import partial

from .references.lookup import build_reference_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

financial_reference = partial(build_reference_tool, "financial")
