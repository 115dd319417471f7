"""The child process that reads contracts; the tools send it one request per line.

Contracts come from untrusted sources and the playbook from the user, so this process can be killed
and holds no key.
"""

from collections.abc import Mapping
from typing import Any

from .compliance import report_compliance
from .contract import Contract
from .contract_text import MAX_CHARS
from .extraction import extract_facts_and_clauses, quote_whole_clause
from .playbook import (
    SHIPPED_PLAYBOOK,
    PlaybookInvalid,
    is_playbook,
    read_playbook,
)
from .quotation_check import check_quotations

CUT_MARK = "[cut at "
"""Marker with which the document reader ends a text that was too long."""


def answer_request(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{operation, name, materials, …}` with the tool's answer, or `{refusal}`."""
    materials: Mapping[str, str] = request["materials"]
    if request["operation"] == "verify":
        wanted = {claim["source"] for claim in request["claims"]} & materials.keys()
        contracts = {name: Contract(name, materials[name][:MAX_CHARS]) for name in wanted}
        return check_quotations(request["claims"], contracts)
    name = request["name"]
    if is_playbook(name):
        return _answer_for_playbook(request["operation"], name, materials)
    if problem := _find_text_problem(name, materials[name]):
        return {"refusal": problem}
    contract = Contract(name, materials[name])
    if not contract.is_contract:
        return _reject_non_contract(name, materials)
    if request["operation"] == "check":
        told = _answer_check(contract, materials)
    else:
        told = _answer_extract(contract, request["query"], request["clause"])
    if CUT_MARK in materials[name][-60:] and "gaps" in told:
        told["gaps"] = [f"{name} was cut when it was read: its end is not covered", *told["gaps"]]
    return told


def _answer_for_playbook(operation: str, name: str, materials: Mapping[str, str]) -> dict[str, Any]:
    """Return no answer for a valid playbook, used with each contract; report an invalid one."""
    others = [other for other in materials if not is_playbook(other)]
    if not others:
        return {"refusal": f"{name} is a playbook, and there is no contract; add one with --file"}
    if operation == "check":
        try:
            read_playbook(name, materials[name])
        except PlaybookInvalid as error:
            return {"escalation": {"reason": "ambiguous_input", "message": str(error)}}
    return {"summary": "", "note": f"{name} is the playbook; call this for {others[0]!r}"}


def _find_text_problem(name: str, text: str) -> str:
    if not text.strip():
        return f"{name} holds no text; a scan needs text recognition first"
    if len(text) > MAX_CHARS + len(CUT_MARK) + 40:
        return f"{name} has {len(text):,} characters, of at most {MAX_CHARS:,}; split it"
    return ""


def _reject_non_contract(name: str, materials: Mapping[str, str]) -> dict[str, Any]:
    """Escalate, unless another material is the contract."""
    reason = (
        f"{name} is not a contract: parties, duties and terms such as liability or termination "
        "were not found"
    )
    others = [other for other in materials if other != name and not is_playbook(other)]
    if any(Contract(other, materials[other][:MAX_CHARS]).is_contract for other in others):
        return {"summary": "", "gaps": [f"{reason}; it was left out"]}
    return {"escalation": {"reason": "out_of_scope", "message": reason}}


def _answer_extract(contract: Contract, query: str, number: str) -> dict[str, Any]:
    if not number.strip():
        return extract_facts_and_clauses(contract, query)
    told = quote_whole_clause(contract, number)
    if told is not None:
        return told
    known = ", ".join(clause.number for clause in contract.clauses if clause.level == 0)
    return {"refusal": f"{contract.name} has no clause {number!r:.40}; it has {known[:1500]}"}


def _answer_check(contract: Contract, materials: Mapping[str, str]) -> dict[str, Any]:
    given = [name for name in materials if is_playbook(name)]
    if len(given) > 1:
        return {"refusal": f"several playbooks: {', '.join(given)[:500]}; give one"}
    name = given[0] if given else SHIPPED_PLAYBOOK.name
    text = materials[name] if given else SHIPPED_PLAYBOOK.read_text(encoding="utf-8")
    try:
        playbook = read_playbook(name, text)
    except PlaybookInvalid as error:
        return {"refusal": str(error)}
    return report_compliance(contract, playbook) | {"playbook": name if given else "the team's own"}
