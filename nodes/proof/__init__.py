"""Proves by program what models write: each claim of a report, each line of an answer.

No model is asked. A quotation is in what was read, a figure or name in its quotation, in the
passage or the cells that fit the claim, or follows from those by one step of arithmetic.
"""

from nodes.proof.answers import ProvedAnswer, find_file_names, prove_answer
from nodes.proof.claims import (
    ClaimCheck,
    check_claim,
    find_claims,
    list_doubts,
    prove_claim,
    prove_report,
)
from nodes.proof.quotations import find_quotation_places, is_quoted
from nodes.proof.texts import COMPUTING_TOOLS, Evidence

__all__ = [
    "COMPUTING_TOOLS",
    "ClaimCheck",
    "Evidence",
    "ProvedAnswer",
    "check_claim",
    "find_claims",
    "find_file_names",
    "find_quotation_places",
    "is_quoted",
    "list_doubts",
    "prove_answer",
    "prove_claim",
    "prove_report",
]
