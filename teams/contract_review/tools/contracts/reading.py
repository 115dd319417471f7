"""What all tools of contracts do: accept a text as a contract, quote it, and report sizes."""

from collections.abc import Callable
from typing import Any

from nodes.errors import ToolRefused
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.documents import CUT_MARK, is_cut
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names

from .clauses import SIGNATURES
from .contract import Contract, ContractPassage
from .contract_text import MAX_CHARS
from .playbook import is_playbook

NOT_LEGAL_ADVICE = (
    "This is a check of wording by machine, not legal advice: whether a clause is fair, "
    "enforceable or usual is for a lawyer to judge."
)
MAX_SHOWN_CHARS = 260
_SENTENCE_ENDS = tuple(".:;!?\"')\u201d\u2019")


def read_contract(name: str, text: str) -> Contract:
    """Return a text as a contract.

    Raises:
        ToolRefused: it is empty, too long, a playbook, or no contract.
    """
    if is_playbook(name):
        raise ToolRefused(
            f"{name} is a playbook; give the name of a contract, and attach it "
            "(on the command line: --file)"
        )
    if not text.strip():
        raise ToolRefused(f"{name} holds no text; a scan needs text recognition first")
    if len(text) > MAX_CHARS + len(CUT_MARK):
        raise ToolRefused(f"{name} has {len(text):,} characters, of at most {MAX_CHARS:,}")
    contract = Contract(name, text)
    if not contract.is_contract:
        raise ToolRefused(f"{name} is not a contract: it names no parties, duties and terms")
    return contract


def list_reading_gaps(contract: Contract) -> list[str]:
    """Return what of a contract was not read, and that reading it is not legal advice."""
    gaps = []
    if is_cut(contract.text.raw):
        gaps.append(f"{contract.name} was cut when it was read: its end is not covered")
    lines = [
        f"{contract.text.find_line_number(each.start)} to "
        f"{contract.text.find_line_number(each.end - 1)}"
        for each in contract.clauses
        if each.number == SIGNATURES
    ]
    if lines:
        taken = "were taken for signatures and not searched"
        gaps.append(f"{contract.name}: lines {join_names(lines)} {taken}")
    return [*gaps, NOT_LEGAL_ADVICE]


def format_place(contract: Contract, passage: ContractPassage) -> str:
    """Return clause and line of a quotation."""
    return f"{passage.clause.name}, line {contract.text.find_line_number(passage.start)}"


def format_quotation(
    contract: Contract, passage: ContractPassage, max_chars: int = MAX_SHOWN_CHARS
) -> str:
    """Return a quotation on one line, with three dots where it is cut."""
    shown = sanitize_line(contract.text.format_on_one_line(passage.start, passage.end), max_chars)
    if shown.endswith("…"):
        shown = shown.rpartition(" ")[0] or shown[:-1]
    before = contract.text.clean[passage.clause.text_start : passage.start].rstrip()
    is_within = bool(before) and before[-1] not in _SENTENCE_ENDS
    dots_before, dots_after = "… " * is_within, " …" * (shown[-1:] not in _SENTENCE_ENDS)
    return f"{dots_before}\u201c{shown}\u201d{dots_after}"


def add_quotation(
    report: ToolReport, contract: Contract, text: str, passage: ContractPassage
) -> None:
    """Add a claim with its clause, its line and the words of the contract."""
    if passage.start < passage.end:
        place = format_place(contract, passage)
        report.add_claim(f"{text}: {place}", contract.name, contract.quote(passage))


def fit_claims(build: Callable[[int], ToolReport]) -> dict[str, Any]:
    """Return the result with as many claims as a tool's answer may hold."""
    return fit_to_size(build, range(80, 4, -4))
