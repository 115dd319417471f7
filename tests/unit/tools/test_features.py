"""Reading features off a page, and setting products side by side."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import BaseTool

from nodes.errors import ToolRefused
from nodes.tools.framework.argument_types import CitedClaim
from teams.competitive_intelligence.tools.feature_matrix import feature_matrix
from teams.competitive_intelligence.tools.features.extraction import (
    Feature,
    build_matrix,
    extract_features,
    find_product_name,
    list_blocks,
    parse_claim,
)
from teams.competitive_intelligence.tools.read_features import read_features

PAGE = """# Acme Planner

- **SSO**: yes, with SAML

| Feature | Value |
|---|---|
| Price | 9 EUR |

Offline \N{EN DASH} no
Source: acme.example
This sentence on the product, which has far more words than a name: is none.
"""


def test_lists_tables_and_lines_are_read_with_the_line_they_stand_in() -> None:
    found = [(each.name, each.value, each.line) for each in extract_features(PAGE, "acme.md")]

    assert found == [("SSO", "yes, with SAML", 3), ("Price", "9 EUR", 7), ("Offline", "no", 9)]
    assert {each.product for each in extract_features(PAGE, "acme.md")} == {"Acme Planner"}


def test_a_page_without_a_heading_is_named_by_its_file() -> None:
    assert extract_features("Price: 9 EUR", "acme.md")[0].product == "acme"


README = """
<img src="logo.svg">

# Overview

[![build](https://ci.example/badge.svg)](https://ci.example)
Torchlight keeps notes for teams: it is quick.

## Getting started

1. Create a new folder: mkdir torch
2. Start it: torch up

```sh
# Comment: in code
mode: fast
```

## Key features

- **Sync**: over WebDAV,
  also in the background
- Reads notes encrypted with [age](https://age.example). Others are refused.
1. Press the key: Enter

### Editor

* Tables

## Unsupported features

- Video

## Changelog

- Fixed: a crash
"""


def test_a_readme_states_what_its_sections_on_features_list_and_nothing_else() -> None:
    found = extract_features(README, "torchlight_readme.md")

    assert [(each.name, each.value) for each in found] == [
        ("Sync", "over WebDAV, also in the background"),
        ("Reads notes encrypted with age", "stated"),
        ("Tables", "stated"),
    ]
    assert {each.product for each in found} == {"torchlight"}
    assert all(each.quotation in README for each in found)


@pytest.mark.parametrize(
    ("text", "file", "product"),
    [
        ("# Lantern\n", "readme.md", "Lantern"),
        ("# Lantern - notes for teams\n", "readme.md", "Lantern"),
        ("Lantern (ln)\n------------\n\n# Changelog\n", "readme.md", "Lantern (ln)"),
        ("### Changelog\n", "lantern_readme.md", "lantern"),
        ("# Changelog\n", "lantern/README.md", "lantern"),
        ("# Table of contents\n", "docs/lantern.md", "lantern"),
        ("# What is this?\n", "lantern.md", "lantern"),
        ("```\n# Comment\n```\n", "lantern.md", "lantern"),
        ("# A page that says in one long line what the product does\n", "lantern.md", "lantern"),
    ],
)
def test_a_product_is_named_by_a_title_that_is_a_name_or_by_its_file(
    text: str, file: str, product: str
) -> None:
    assert find_product_name(list(list_blocks(text.splitlines())), file) == product


WORD = st.text(alphabet="abc XY", min_size=1, max_size=20).map(str.strip).filter(bool)


@given(WORD, WORD, WORD)
def test_a_claim_is_read_back_as_it_was_stated(product: str, name: str, value: str) -> None:
    claim = Feature(product, name, value, 1, "").claim

    assert parse_claim(claim) == (product, name, value)


@given(st.text(max_size=300))
def test_any_text_can_be_a_page(text: str) -> None:
    for each in extract_features(text, "p"):
        assert each.quotation in "\n".join(text.splitlines()) and each.line <= len(
            text.splitlines()
        )


def make_claims(*claims: str) -> list[CitedClaim]:
    return [CitedClaim(text=text, source=f"{text.split()[0].lower()}.md") for text in claims]


def test_what_all_products_state_comes_first_and_what_one_does_not_is_said() -> None:
    made = build_matrix(
        make_claims("A — API: REST", "A — Price: 9", "B — price: 8", "The weather is mild.")
    )

    assert made.products == ["A", "B"]
    assert made.rows == [("Price", "9", "8"), ("API", "REST", "not stated")]
    assert made.sources == [("A", "a.md"), ("B", "b.md")]


def test_a_product_that_contradicts_itself_is_named() -> None:
    made = build_matrix(make_claims("A — Price: 9", "A — Price: 7", "B — Price: 8"))

    assert made.conflicts == ["A states Price as '9' and as '7'"]


async def call_tool(tool: BaseTool, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = await tool.ainvoke(arguments)
    return result


async def test_the_tools_speak_in_the_report_s_own_words() -> None:
    read = await call_tool(read_features, material="acme.md", materials={"acme.md": PAGE})
    second = {"text": "Bolt — Price: 8 EUR", "source": "bolt.md"}
    claims = [CitedClaim(**{k: claim[k] for k in ("text", "source")}) for claim in read["claims"]]

    made = await call_tool(feature_matrix, claims=[*claims, CitedClaim(**second)])

    assert read["claims"][0]["text"] == "Acme Planner — SSO: yes, with SAML"
    assert all(claim["quotation"] in PAGE for claim in read["claims"])
    assert made["summary"].startswith("1 of 3 features are stated by all 2 products.")
    assert made["gaps"] == ["Bolt does not state SSO", "Bolt does not state Offline"]


@pytest.mark.parametrize("text", ["", "Only prose stands here, and nothing else."])
async def test_a_page_without_features_is_refused(text: str) -> None:
    with pytest.raises(ToolRefused, match="states no features"):
        await call_tool(read_features, material="a.md", materials={"a.md": text})


async def test_a_matrix_of_one_product_is_refused() -> None:
    with pytest.raises(ToolRefused, match="two products or more"):
        await call_tool(feature_matrix, claims=make_claims("A — Price: 9"))


async def test_a_page_with_hundreds_of_features_is_cut_and_says_so() -> None:
    page = "\n".join(f"Feature {number}: yes" for number in range(500))

    read = await call_tool(read_features, material="a.md", materials={"a.md": page})

    assert len(read["claims"]) == 60 and read["gaps"] == ["440 more features of a.md are left out"]


async def test_no_more_features_are_returned_than_asked_for() -> None:
    read = await call_tool(
        read_features, material="acme.md", max_features=2, materials={"acme.md": PAGE}
    )

    assert len(read["claims"]) == 2 and read["gaps"] == ["1 more features of acme.md are left out"]
