"""Contracts for tests: those of the example and the exam, and three real ones.

The real ones are data to measure against, so they are not in this repository: three contracts of
CUAD v1 (The Atticus Project, CC BY 4.0). They are in the folder that the environment variable
SUPERVISE_TEST_CONTRACTS names, or in `shared/data/contracts` of a folder above the repository.
35 tests skip without them.
"""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "teams" / "contract_review" / "sample"
EXAM = EXAMPLE / "exam"
DISTRIBUTION = EXAMPLE / "distribution_agreement.txt"
NDA = EXAM / "mutual_nda.txt"
SERVICES = EXAM / "services_agreement.txt"
STEERING = EXAM / "steering_clause.txt"
HOUSE_PLAYBOOK = EXAM / "house_playbook.yaml"
BROKEN_PLAYBOOK = EXAM / "broken_playbook.yaml"
RECIPE = EXAM / "pancakes.md"

SHARED = next(
    filter(Path.is_dir, (folder / "shared" / "data" / "contracts" for folder in ROOT.parents)),
    Path("shared/data/contracts"),
)
FOLDER = Path(os.environ.get("SUPERVISE_TEST_CONTRACTS") or SHARED)
REAL_DISTRIBUTOR = FOLDER / "lucidinc.txt"
REAL_ENDORSEMENT = FOLDER / "lifewayfoods.txt"
REAL_SPONSORSHIP = FOLDER / "ticketscominc.txt"
REAL_CONTRACTS = (REAL_DISTRIBUTOR, REAL_ENDORSEMENT, REAL_SPONSORSHIP)
REAL_FACTS = {
    REAL_ENDORSEMENT: (
        "Endorsement Agreement",
        [("Lifeway Foods, Inc.", "Lifeway"), ("Ludmila Smolyansky", "Individual")],
        "2016-03-14",
        "the State of Illinois",
        ["$0.02", "$50,000"],
    ),
    REAL_DISTRIBUTOR: (
        "Distributor Agreement",
        [("Lucid Inc.", ""), ("[*]", "Distributor")],
        None,
        "the State of New York",
        [],
    ),
    REAL_SPONSORSHIP: (
        "Sponsorship Agreement",
        [("Tickets.com, Inc.", "Tickets"), ("MP3.com, Inc.", "MP3.com")],
        "1999-02-17",
        "the State of California",
        ["$[***]"] * 6,
    ),
}
"""Title, parties with their roles, date, law and sums, as a reader finds them."""


def read_contract(file: Path) -> str:
    """Return a contract's text; skip the test if it is a real one that is missing."""
    if file in REAL_CONTRACTS and not file.is_file():
        pytest.skip(f"no {file.name} of CUAD v1 in {FOLDER}: set SUPERVISE_TEST_CONTRACTS")
    return file.read_text(encoding="utf-8")


def read_contracts(*files: Path) -> dict[str, str]:
    """Return files as the materials of a request."""
    return {file.name: read_contract(file) for file in files}
