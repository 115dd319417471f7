"""What a project asks for, read from its configuration and its prose."""

import pytest

from teams.code_review.tools.review.guidelines import read_guidelines
from tests.unit.tools.review.changes import call_review_tool, list_findings, make_diff

PROSE = """\
# Style

We like simple code.

- Lines have at most 60 characters.
- Never use `print`: log instead, in every module that
  is imported.
- Avoid wildcard imports. Prefer names that a reader knows.

```python
print("must not be read as a guideline")
```
"""
RUFF = """\
[project]
requires-python = ">=3.12"
[tool.ruff]
line-length = 90
[tool.ruff.lint]
select = ["N8", "Q", "--config=/etc/passwd"]
ignore = ["E711"]
"""


def test_prose_that_rules_can_check_is_distinguished_from_what_needs_a_reader() -> None:
    guidelines = read_guidelines({}, {"GUIDELINES.md": PROSE})

    assert (
        set(guidelines.required_rules) == {"E501", "T201", "F403"} and guidelines.line_length == 60
    )
    assert guidelines.unchecked_sentences == ("GUIDELINES.md: “Prefer names that a reader knows.”",)
    assert "log instead, in every module that is imported" in guidelines.find_requirement("T201")


def test_configuration_is_read_as_ruffs_and_only_rules_are_taken_from_it() -> None:
    guidelines = read_guidelines({"pyproject.toml": RUFF}, {})

    assert set(guidelines.required_rules) == {"N8", "Q", "E501"} and guidelines.ignored_rules == (
        "E711",
    )
    assert (guidelines.line_length, guidelines.target_version) == (90, "py312")


@pytest.mark.parametrize("text", ["[tool.ruff", "tool = 3", "[tool]\nruff = 1", "", "\0"])
def test_unreadable_configuration_adds_no_rules(text: str) -> None:
    assert not read_guidelines({"pyproject.toml": text}, {}).required_rules


def test_prose_outranks_the_configuration() -> None:
    prose = {"G.md": "Never catch with a bare except."}
    guidelines = read_guidelines({"ruff.toml": '[lint]\nignore = ["E722"]'}, prose)

    assert guidelines.ignored_rules == ()


@pytest.mark.slow
async def test_a_breach_of_a_guideline_is_a_finding_that_quotes_it() -> None:
    long = f"value = '{'x' * 60}'\n"
    after = f"{long}print(value)\nif value == None:\n    pass\n"
    diff = make_diff(app__py=("", after))

    plain = await call_review_tool("check_style", {"change.diff": diff})
    guided = await call_review_tool("check_style", {"change.diff": diff, "GUIDELINES.md": PROSE})
    configured = await call_review_tool(
        "check_style", {"change.diff": diff, "pyproject.toml": RUFF}
    )

    assert list_findings(plain) == {"E711:3"}
    assert list_findings(guided) == {"E501:1", "T201:2", "E711:3"}
    assert "“Never use `print`" in str(guided["findings"]) and "60" in str(guided["findings"])
    assert any("names that a reader knows" in gap for gap in guided["gaps"])
    assert list_findings(configured) == {"Q000:1"}
