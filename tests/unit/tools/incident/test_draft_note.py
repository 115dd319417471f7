"""The draft of a note."""

from tests.unit.tools.incident.tool_calls import call_incident_tool

IMPACT = {"text": "48 of 214 requests failed.", "source": "requests.csv", "quotation": ""}
CODE = {"text": "`charge` waits as long as `timeout_s` says.", "source": "gateway.py"}
CAUSE = {
    "severity": "high",
    "message": "`timeout_s` is 0.2.",
    "file": "production.yaml",
    "line": 7,
    "suggestion": "Set it to 2.0.",
}
RISE = {"severity": "high", "message": "Errors rose.", "file": "requests.csv"}


async def test_the_note_says_impact_cause_and_fix_and_leaves_the_rest_open() -> None:
    answer = await call_incident_tool(
        "draft_note", {}, claims=[IMPACT, CODE], findings=[RISE, CAUSE], audience="team"
    )

    note = answer["summary"]
    assert "nothing has been sent" in note and "48 of 214 requests failed. (requests.csv)" in note
    assert "`timeout_s` is 0.2. (production.yaml:7)" in note and "Set it to 2.0." in note
    assert "Errors rose" not in note
    assert "**Next update:** [to be filled in by a person]" in note


async def test_a_note_for_customers_names_no_files_settings_or_code() -> None:
    answer = await call_incident_tool(
        "draft_note", {}, claims=[IMPACT, CODE], findings=[CAUSE], audience="customers"
    )

    note = answer["summary"]
    assert "48 of 214 requests failed." in note and "The cause has been found" in note
    assert not any(word in note for word in ("timeout", "gateway", "yaml", "requests.csv"))


async def test_without_figures_or_cause_the_gaps_say_so() -> None:
    answer = await call_incident_tool("draft_note", {}, claims=[CODE], findings=[], audience="team")

    assert "- Not known yet.\n- `charge` waits" in answer["summary"]
    assert "The note says nothing on the impact: no figures from logs are known." in answer["gaps"]
    assert "The note names no cause: none was found." in answer["gaps"]


async def test_a_note_on_work_that_failed_does_not_say_that_no_cause_was_found() -> None:
    answer = await call_incident_tool(
        "draft_note", {}, claims=[IMPACT], findings=[], audience="team", lacking=["bug failed: x"]
    )

    assert "The note names no cause: not all of the work was done." in answer["gaps"]
    assert "The note does not cover what is missing: bug failed: x" in answer["gaps"]
