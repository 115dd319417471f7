"""Reads the claims that were written freely, each as a case of one claim."""

import json
from dataclasses import dataclass
from pathlib import Path

from state import Report
from tests.benchmarks.proof.cases import REQUEST, Case, make_claim

FILE = Path(__file__).with_name("free.jsonl")
FAULTS = ("figure", "unit", "date", "name")


@dataclass(frozen=True)
class FreeClaim:
    """A claim in a model's words, the sentences it rests on, and what is wrong with it."""

    text: str
    quotation: str
    source: str
    fault: str
    """Empty, or one of `FAULTS`."""


def read_free_claims() -> list[FreeClaim]:
    """Return the claims of `free.jsonl`."""
    lines = FILE.read_text("utf-8").splitlines()
    return [FreeClaim(**json.loads(line)) for line in lines]


def build_free_case(number: int, claim: FreeClaim) -> Case:
    """Return a case whose worker read a document that has the quotation among other words."""
    report = Report(
        task="read",
        worker="researcher",
        output=claim.text,
        claims=(make_claim(claim.text, claim.source, claim.quotation),),
        confidence=90,
    )
    return Case(
        id=f"free-{number}",
        kind=claim.fault or "true",
        document=claim.source,
        split="a",
        materials={claim.source: f"Background\n\n{claim.quotation}\n\nNotes follow.\n"},
        tool_results=[],
        request=REQUEST,
        report=report,
        answer=claim.text,
        fault=f"claim 0: {claim.text}" if claim.fault else "",
        fault_claim=0 if claim.fault else None,
        forms=("free",),
    )
