"""Contracts held against playbooks."""

import copy
import json
from typing import Any

import pytest
import yaml

from nodes.errors import ToolRefused
from nodes.synthesis.findings import collect_findings
from nodes.tools.framework.tool_report import Severity as OwnSeverity
from state import Finding, Report, Severity
from teams.contract_review.tools.check_playbook import check_playbook
from teams.contract_review.tools.contracts.playbook import (
    read_playbook,
)
from tests.contracts import (
    BROKEN_PLAYBOOK,
    DISTRIBUTION,
    HOUSE_PLAYBOOK,
    NDA,
    REAL_CONTRACTS,
    REAL_DISTRIBUTOR,
    REAL_ENDORSEMENT,
    REAL_SPONSORSHIP,
    RECIPE,
    SERVICES,
    STEERING,
    read_contracts,
)

pytestmark = pytest.mark.slow

FOUND = {
    DISTRIBUTION: {
        *("blanks", "liability_one_sided", "indemnity_uncapped", "non_compete", "number_mismatch"),
        *("forum", "to_be_agreed", "auto_renewal", "exclusivity", "one_sided_change"),
        *("one_sided_termination", "payment_days", "late_interest", "termination_notice"),
        *("initial_term", "duties_after_the_end", "force_majeure"),
    },
    REAL_ENDORSEMENT: {
        *("forum", "termination_right", "term_stated", "liability_limit", "indemnity_uncapped"),
        *("general_release", "perpetual_rights", "non_compete", "one_sided_change"),
        "rights_waived",
    },
    REAL_DISTRIBUTOR: {
        *("number_mismatch", "forum", "confidentiality", "assignment_consent", "force_majeure"),
        *("amendment_in_writing", "blanks", "to_be_agreed", "liability_one_sided"),
        *("auto_renewal", "exclusivity", "non_compete", "one_sided_termination"),
    },
    REAL_SPONSORSHIP: {
        *("confidentiality", "notices", "amendment_in_writing", "force_majeure", "blanks"),
        *("indemnity_uncapped", "exclusivity", "one_sided_termination", "late_interest"),
    },
}
"""What a reader finds in each contract, by the shipped playbook."""
RULE = {
    "id": "x",
    "title": "Digging",
    "kind": "required",
    "severity": "low",
    "any": ["dig"],
}
TEXT = """\
This Agreement is made between A Ltd and B Ltd, the parties.

1. Digging. A shall dig within thirty (30) days.

2. Payment. B shall pay within ninety (90) days of notice, and may terminate this Agreement.
"""


CHECKED: dict[str, dict[str, Any]] = {}
"""Several tests look at the same contracts, and reading one takes a process."""


async def check_contract(name: str, materials: dict[str, str]) -> dict[str, Any]:
    asked = json.dumps([name, materials])
    if asked not in CHECKED:
        CHECKED[asked] = await check_playbook.ainvoke({"material": name, "materials": materials})
    return copy.deepcopy(CHECKED[asked])


async def check_by_rules(*rules: dict[str, Any], **keys: Any) -> list[dict[str, Any]]:
    playbook = yaml.safe_dump({"name": "Rules", **keys, "rules": [{**RULE, **r} for r in rules]})
    found = await check_contract("a.txt", {"a.txt": TEXT, "playbook.yaml": playbook})
    assert found["playbook"] == "playbook.yaml"
    findings: list[dict[str, Any]] = found["findings"]
    return findings


def list_rules(found: dict[str, Any]) -> set[str]:
    return {finding["message"].rpartition("[")[2].split()[0] for finding in found["findings"]}


@pytest.mark.parametrize("file", FOUND)
async def test_a_contract_deviates_where_a_reader_finds_it(file):
    found = await check_contract(file.name, read_contracts(file))

    assert list_rules(found) == FOUND[file]


@pytest.mark.parametrize("file", [*REAL_CONTRACTS, DISTRIBUTION, NDA, SERVICES, STEERING])
async def test_every_hit_is_quoted_word_for_word_and_none_is_lost_when_like_ones_are_merged(file):
    ((name, text),) = read_contracts(file).items()

    found = await check_contract(name, {name: text})

    assert len(json.dumps(found, ensure_ascii=False)) < 20_000
    assert found["claims"] and all(claim["quotation"] in text for claim in found["claims"])
    report = Report(task="t", findings=tuple(Finding(**each) for each in found["findings"]))
    assert len(collect_findings([report], min_confidence=60)) == len(report.findings)


async def test_a_number_whose_words_and_figures_differ_is_found():
    found = await check_contract(DISTRIBUTION.name, read_contracts(DISTRIBUTION))

    (finding,) = (f for f in found["findings"] if "[number_mismatch" in f["message"])
    assert "\u201csixty (90) days\u201d" in finding["message"]
    assert (finding["line"], finding["severity"]) == (53, "high")


async def test_severity_and_limits_are_the_playbooks():
    findings = await check_by_rules(
        {"id": "a", "kind": "limited", "max": "60 days", "any": ["pay within #"]},
        {
            "id": "b",
            "kind": "limited",
            "min": "45 days",
            "any": ["dig within #"],
            "severity": "high",
        },
        {"id": "c", "kind": "limited", "max": "3 months", "any": ["pay within #"]},
        {"id": "d", "kind": "forbidden", "any": ["dig"], "severity": "info"},
        {"id": "e", "kind": "required", "any": ["arbitration"], "severity": "critical"},
    )

    assert [(f["severity"], f["message"].split(" [")[0]) for f in findings] == [
        ("critical", "Digging missing."),
        ("high", "Digging under 45 days (clause 1: \u201cthirty (30) days\u201d)."),
        ("low", "Digging over 60 days (clause 2: \u201cninety (90) days\u201d)."),
        ("info", "Digging (clause 1)."),
    ]


async def test_a_term_may_be_a_kind_of_clause_in_place_of_wording():
    found = await check_by_rules(
        {"id": "ending", "any": [], "clause": "termination"},
        {"id": "law", "any": [], "clause": "governing_law"},
    )

    assert [finding["message"].rpartition("[")[2] for finding in found] == ["law 3/5]"]


async def test_wording_that_excepts_takes_a_sentence_out():
    assert await check_by_rules({"kind": "forbidden", "any": ["dig"]})
    assert not await check_by_rules({"kind": "forbidden", "any": ["dig"], "unless": ["thirty"]})


async def test_a_contract_that_speaks_to_its_reviewer_is_found_out_and_not_obeyed():
    found = await check_contract(STEERING.name, read_contracts(STEERING))

    first = found["findings"][0]
    assert (first["severity"], first["line"]) == ("critical", 9)
    assert {"liability_one_sided", "payment_days", "addressed_to_the_reviewer"} <= list_rules(found)


async def test_whether_terms_are_fair_is_left_to_a_human():
    found = await check_contract(DISTRIBUTION.name, read_contracts(DISTRIBUTION))

    assert "for a human to judge: " in found["gaps"][0] and "non-compete (2(B))" in found["gaps"][0]
    assert "not legal advice" in found["gaps"][-1]


async def test_a_broken_playbook_is_refused_with_file_and_key():
    said = r"broken_playbook.yaml is no playbook: rules.0.severity is 'severe': Input should be 'cr"

    with pytest.raises(ToolRefused, match=said):
        await check_contract(NDA.name, read_contracts(NDA, BROKEN_PLAYBOOK))


async def test_a_playbook_may_be_named_where_there_are_several():
    materials = read_contracts(NDA, HOUSE_PLAYBOOK) | {"b_playbook.yml": "name: x"}

    found = await check_playbook.ainvoke(
        {"material": NDA.name, "playbook": HOUSE_PLAYBOOK.name, "materials": materials}
    )

    assert found["playbook"] == HOUSE_PLAYBOOK.name


async def test_several_playbooks_are_refused():
    with pytest.raises(ToolRefused, match=r"several playbooks: house_playbook.yaml, b_playbook"):
        await check_contract(
            NDA.name, read_contracts(NDA, HOUSE_PLAYBOOK) | {"b_playbook.yml": "name: x"}
        )


@pytest.mark.parametrize(
    ("file", "said"), [(RECIPE, "is not a contract"), (HOUSE_PLAYBOOK, "is a playbook")]
)
async def test_a_text_that_is_no_contract_is_refused(file, said):
    with pytest.raises(ToolRefused, match=f"{file.name} {said}"):
        await check_contract(file.name, read_contracts(file))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\nrules: [", "p.yaml is no YAML: .*line 2"),
        ("- a", "playbook: Input should be a valid dictionary"),
        ("", "playbook: Input should be a valid dictionary"),
        ("name: x\nrules: []", "rules: Tuple should have at least 1 item"),
        ("a: &x 1\nb: *x", r"aliases \(\*name\) are not allowed"),
        ("name: x\nrules:\n- {id: a}", "rules.0.title: Field required"),
        ("x" * 200_001, "200,001 characters, of at most 200,000"),
    ],
)
def test_a_playbook_that_cannot_be_read_is_reported_with_its_place(text, said):
    with pytest.raises(ToolRefused, match=said):
        read_playbook("p.yaml", text)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"severity": "hi"}, "rules.0.severity is 'hi': Input should be 'critical'"),
        ({"likelihood": 6}, "rules.0.likelihood is 6: Input should be less than or equal to 5"),
        ({"colour": "red"}, "rules.0.colour is 'red': Extra inputs are not permitted"),
        ({"any": ["... x"]}, "rules.0.any: a phrase begins with a word"),
        ({"kind": "limited"}, "rules.0: max and min, such as max: 60 days, belong to"),
        ({"kind": "limited", "max": "60 days"}, "rules.0: a limited term needs '#' in a phrase"),
        (
            {"kind": "limited", "max": "soon", "any": ["in #"]},
            "rules.0.max is 'soon': a limit is a",
        ),
        ({"max": "60 days"}, "rules.0: max and min, such as max: 60 days, belong to"),
    ],
)
def test_a_rule_that_cannot_be_used_is_reported_with_its_key(change, said):
    text = yaml.safe_dump({"name": "x", "rules": [{**RULE, **change}]})

    with pytest.raises(ToolRefused, match=said):
        read_playbook("p.yaml", text)


async def test_a_playbook_of_many_rules_is_answered_within_the_size_and_says_what_is_left_out():
    rules = [{**RULE, "id": f"r{n}", "title": f"Term {n}", "any": [f"w{n}"]} for n in range(190)]
    rules += [{**RULE, "id": "dig", "kind": "forbidden", "why": "x" * 400, "remedy": "y" * 400}]
    playbook = yaml.safe_dump(
        {"name": "Long", "rules": [{**r, "any": list(r["any"])} for r in rules]}
    )

    found = await check_contract("a.txt", {"a.txt": TEXT, "playbook.yaml": playbook})

    assert len(json.dumps(found, ensure_ascii=False)) < 20_000
    assert "191 terms checked, 191 to look at" in found["summary"]
    left_out = 191 - len(found["findings"])
    assert found["failures"] == [f"{left_out} findings are left out for length"]


def test_two_rules_of_one_id_are_refused():
    with pytest.raises(ToolRefused, match="two rules have the id x"):
        read_playbook("p.yaml", yaml.safe_dump({"name": "x", "rules": [RULE, dict(RULE, any="x")]}))


def test_the_severities_are_those_of_a_finding():
    assert OwnSeverity == Severity
