"""Regular expressions that end, whatever text they meet."""

import re
from time import process_time

import pytest

from nodes.errors import ToolFailed
from nodes.limits.patterns import LIMIT_S, Pattern, PatternTimeout
from tests.attacks import COMMON, slowest_attack
from tests.written_patterns import modules, patterns_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("module", modules())
def test_every_pattern_ends_well_below_the_limit_on_texts_of_100_kb_made_to_slow_it_down(module):
    slow = {}
    for pattern in patterns_of(module):
        seconds, start, _ = slowest_attack(pattern, COMMON)
        if seconds > LIMIT_S / 2:
            slow[pattern.pattern] = f"{seconds:.1f} s on {start!r}"

    assert not slow


def test_patterns_of_modules_of_constants_and_of_data_are_all_found():
    found = {name: {each.pattern for each in patterns_of(name)} for name in modules()}

    assert len(found) > 100
    assert len(set().union(*found.values())) > 700
    assert len(found["teams/contract_review/tools/contracts/phrases.py"]) > 100
    assert len(found["teams/portfolio_rebalancing/tools/portfolio/request_terms.py"]) > 20


def test_a_search_that_would_never_end_is_stopped_in_one_line():
    began = process_time()

    with pytest.raises(PatternTimeout) as stopped:
        Pattern(r"(a|aa)+$").search("a" * 100_000 + "b")

    assert process_time() - began < 2 * LIMIT_S
    assert isinstance(stopped.value, ToolFailed)
    assert "100,001 characters" in str(stopped.value) and "\n" not in str(stopped.value)


@pytest.mark.parametrize(
    ("pattern", "flags", "text"),
    [
        ("AB", re.IGNORECASE, "ab"),
        ("^b$", re.MULTILINE, "a\nb"),
        ("a.b", re.DOTALL, "a\nb"),
        ("a  b", re.VERBOSE, "ab"),
        (r"^\W$", re.ASCII, "é"),
        ("^A.B$", re.IGNORECASE | re.DOTALL, "a\nb"),
    ],
)
def test_flags_mean_what_they_mean_in_the_standard_library(pattern, flags, text):
    assert re.search(pattern, text, flags)

    assert Pattern(pattern, flags).search(text)
    assert not Pattern(pattern).search(text)


def test_what_is_no_regular_expression_is_named_with_its_place():
    with pytest.raises(ValueError, match="position"):
        Pattern("(a").check()
