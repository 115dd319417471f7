"""Golden facts: case and spacing do not count, figures do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.evals.exam import is_found_in


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("18.5 percent", "Revenue grew by 18.5  Percent."),
        ("47.3 %", "| Amazon | 47.3% |"),
        ("47.3%", "47.3\N{NO-BREAK SPACE}%"),
        ("1234", "1 234 units"),
        ("MARKET share", "market\nshares"),
        ("/18\\.[56]/", "It is 18.6."),
        ("/^total: \\d+$/", "TOTAL: 12"),
        ("a+b", "a + b = c"),
        ("12", "(12)"),
        ("12.5", "12.5."),
    ],
)
def test_a_fact_is_found_however_it_is_spaced(fact, text):
    assert is_found_in(fact, text)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("12 percent", "112 percent"),
        ("12 percent", "3.12 percent"),
        ("47.3", "47.35"),
        ("1,200", "1,200,000"),
        ("12", "12.5"),
        ("18.5 percent", "It grew by 18.5."),
        ("a+b", "aab"),
    ],
)
def test_a_fact_is_not_found_in_another_figure_or_other_words(fact, text):
    assert not is_found_in(fact, text)


@given(
    before=st.text(alphabet=st.characters(categories=["L", "P", "Z"], exclude_characters=".,")),
    fact=st.text(min_size=1).filter(lambda text: text.strip() and "/" not in text),
    after=st.text(alphabet=st.characters(categories=["L", "Z"])),
)
def test_whatever_stands_in_a_text_is_found_in_it(before, fact, after):
    assert is_found_in(fact, f"{before} {fact} {after}")


@given(st.text(alphabet="abc 12.", min_size=1).filter(str.strip), st.sampled_from(" \n\t"))
def test_spaces_neither_help_nor_hinder(fact, space):
    assert is_found_in(fact, space.join(fact))
    assert is_found_in(space.join(fact), fact)
