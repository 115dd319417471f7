"""Extract labelled contracts, and compare with the labels.

    python -m tests.benchmarks.contracts PATH [--rows N]

PATH is a file of JSON lines in the form of CUAD: `id`, `text`, and `labels` with `category`,
`answer` and `spans`. Prints for each kind of clause how often it is found, how often the report
shows it, and how often a rule of the playbook finds it, where a label has it; then governing law,
parties, quotations, and the slowest contract.
"""

import asyncio
import json
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from teams.contract_review.tools.check_playbook import check_playbook
from teams.contract_review.tools.contracts.clause_kinds import load_clause_kinds
from teams.contract_review.tools.contracts.playbook import SHIPPED_PLAYBOOK, read_playbook
from teams.contract_review.tools.extract_clauses import extract_clauses
from tests.benchmarks.options import read_options

LABELS: Mapping[str, tuple[str, ...]] = {
    "term": ("Expiration Date",),
    "renewal": ("Renewal Term",),
    "liability": ("Cap On Liability", "Uncapped Liability"),
    "intellectual_property": (
        *("License Grant", "Ip Ownership Assignment", "Joint Ip Ownership"),
        "Irrevocable Or Perpetual License",
    ),
    "non_compete": ("Non-Compete", "No-Solicit Of Customers", "No-Solicit Of Employees"),
    "exclusivity": ("Exclusivity",),
    "assignment": ("Anti-Assignment", "Change Of Control"),
    "governing_law": ("Governing Law",),
    "audit": ("Audit Rights",),
    "insurance": ("Insurance",),
}
"""Kinds of clauses, and the categories of labels that are of the kind."""
RULES: Mapping[str, str] = {
    "term_stated": "term",
    "governing_law": "governing_law",
    "assignment_consent": "assignment",
    "liability_limit": "liability",
    "exclusivity": "exclusivity",
}
"""Rules of the playbook, and the kinds of clauses whose labels they are compared with."""


async def measure_contracts(lines: Iterable[str]) -> None:
    """Measure the contracts of JSON lines."""
    presence, shown = ({kind: Counter[str]() for kind in LABELS} for _ in range(2))
    rules = {rule: Counter[str]() for rule in RULES}
    titles = {kind: known.title for kind, known in load_clause_kinds().items()}
    law, parties, quotations = Counter[str](), Counter[str](), Counter[bool]()
    slowest = (0.0, "")
    for line in lines:
        row = json.loads(line)
        labels = {each["category"]: each for each in row["labels"]}
        begun = time.perf_counter()
        told = await extract_contract(row["text"])
        slowest = max(slowest, (time.perf_counter() - begun, row["id"]))
        for kind, categories in LABELS.items():
            is_there = any(labels.get(name, {}).get("spans") for name in categories)
            presence[kind][f"{is_there} {kind not in told['not_found']}"] += 1
            shown[kind][f"{is_there} {f'**{titles[kind]}**' in told['summary']}"] += 1
        for rule, is_met in (await check_contract(row["text"])).items():
            is_there = any(labels.get(name, {}).get("spans") for name in LABELS[RULES[rule]])
            rules[rule][f"{is_there} {is_met}"] += 1
        law[grade_law(labels.get("Governing Law"), told["facts"]["Governing law"])] += 1
        parties[grade_parties(labels["Parties"], told["facts"]["Party"])] += 1
        quotations.update(claim["quotation"] in row["text"] for claim in told["claims"])
    for name, parts in (("found", presence), ("shown", shown), ("playbook", rules)):
        print(f"\n{name}")
        for kind, counts in parts.items():
            print(f"{kind:22}{format_scores(counts)}")
        print(f"{'all':22}{format_scores(sum(parts.values(), Counter()))}")
    print(f"governing law: {dict(law)}\nparties: {dict(parties)}")
    print(f"quotations verbatim: {quotations[True]} of {quotations.total()}")
    print(f"slowest: {slowest[0]:.2f} s, {slowest[1]}")


async def extract_contract(text: str) -> dict[str, Any]:
    """Return the tool's result for one contract; all clauses count as missing if it refuses."""
    try:
        given = {"material": "contract.txt", "materials": {"contract.txt": text}}
        return dict(await extract_clauses.ainvoke(given))
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        facts: dict[str, list[str]] = {"Governing law": [], "Party": []}
        return {"not_found": list(LABELS), "facts": facts, "claims": [], "summary": ""}


async def check_contract(text: str) -> dict[str, bool]:
    """Return for each rule whether the check finds the wording of its term."""
    playbook = read_playbook("playbook.yaml", SHIPPED_PLAYBOOK.read_text(encoding="utf-8"))
    titles = {rule.id: rule.title for rule in playbook.rules}
    try:
        given = {"material": "contract.txt", "materials": {"contract.txt": text}}
        told = (await check_playbook.ainvoke(given))["summary"]
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        return {}
    states = ("stated", "found")
    return {
        rule: any(f"| {titles[rule]} | {state} |" in told for state in states) for rule in RULES
    }


def grade_law(label: Mapping[str, Any] | None, found: list[str]) -> str:
    """Return whether the law that was found is that of the label."""
    if not label or not label["spans"]:
        return "found without label" if found else "rightly none"
    if not found:
        return "missing"
    known = normalize("".join((label["answer"], *label["spans"])))
    return "right" if normalize(found[0].removeprefix("the ")) in known else "wrong"


def grade_parties(label: Mapping[str, Any], found: list[str]) -> str:
    """Return whether the parties that were found are all among those of the label."""
    known = normalize("".join((label["answer"], *label["spans"])))
    names = [normalize(name.partition(" (")[0]) for name in found]
    if not names:
        return "none"
    return "found" if all(name in known for name in names) else "found with other names"


def normalize(text: str) -> str:
    """Return the letters and digits of a text, in small letters."""
    return "".join(filter(str.isalnum, text.lower()))


def format_scores(counts: Mapping[str, int]) -> str:
    """Return precision, recall and F1, with the counts they are from."""
    hit, extra, missed = (counts.get(key, 0) for key in ("True True", "False True", "True False"))
    precision, recall = hit / max(1, hit + extra), hit / max(1, hit + missed)
    harmonic = 2 * precision * recall / max(0.001, precision + recall)
    scores = f"P {precision:.2f}  R {recall:.2f}  F1 {harmonic:.2f}"
    return f"{scores}  ({hit} found, {extra} without label, {missed} missed)"


if __name__ == "__main__":
    parser = ArgumentParser(description="Extract labelled contracts, and compare with the labels.")
    parser.add_argument("path", type=Path, help="JSON lines in the form of CUAD")
    options = read_options(parser)
    rows = options.path.read_text(encoding="utf-8").splitlines()
    asyncio.run(measure_contracts(rows[: options.rows]))
