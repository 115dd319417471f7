"""Names of columns are shown in words, each unit after what it is of."""

import pytest

from extensions.tools.tables.formatting import format_column, split_unit


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("market_cap_billion_usd 2023", "market cap 2023 (billion USD)"),
        ("sum of revenue_eur", "sum of revenue (EUR)"),
        ("price_usd_per_kwh 2024-Q1", "price 2024-Q1 (USD per kwh)"),
        ("fiscal_year", "fiscal year"),
        ("cubic_metres_2024", "cubic metres 2024"),
        ("change in percent", "change in percent"),
        ("Total Revenue", "Total Revenue"),
    ],
)
def test_a_columns_name_is_shown_in_words(name, shown):
    assert format_column(name) == shown


def test_the_unit_of_two_columns_is_no_unit_of_their_quotient():
    assert split_unit("salary_eur") == ("salary", "EUR")
    assert split_unit("sales_eur per stay_days") == ("sales (EUR) per stay (days)", "")
