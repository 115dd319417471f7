"""Regular expressions that end, whatever text they meet."""

import re

import pytest

from nodes.errors import ToolFailed
from nodes.limits.patterns import Pattern, PatternTimeout
from tests.attacks import COMMON, list_stopped_attacks
from tests.written_patterns import modules, patterns_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("module", modules())
def test_every_pattern_ends_within_the_limit_on_texts_of_100_kb_made_to_slow_it_down(module):
    stopped = {each.pattern: list_stopped_attacks(each, COMMON) for each in patterns_of(module)}

    assert not {pattern: starts for pattern, starts in stopped.items() if starts}


def test_patterns_of_modules_of_constants_and_of_data_are_all_found():
    found = {name: {each.pattern for each in patterns_of(name)} for name in modules()}

    assert len(found) > 100
    assert len(set().union(*found.values())) > 700
    assert len(found["teams/contract_review/tools/contracts/phrases.py"]) > 100
    assert len(found["teams/product_launch/tools/launch/channels.py"]) > 10


def test_a_search_that_would_never_end_is_stopped_in_one_line():
    with pytest.raises(PatternTimeout) as stopped:
        Pattern(r"(a|aa)+$").search("a" * 100_000 + "b")

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
