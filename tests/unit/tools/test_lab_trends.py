"""Values over time: each checked against the bundle by other code than the tool's own."""

import json
import re
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from nodes.errors import ToolRefused
from teams.patient_summary.tools.lab_trends import lab_trends
from tests.unit.tools.fhir_samples import (
    EXAMPLE,
    ask_tool,
    make_bundle,
    make_observation,
    make_quantity,
    read_resources,
)

pytestmark = pytest.mark.slow

Json = dict[str, Any]


follow_trends = partial(ask_tool, lab_trends)


def find_row(told: Json, title: str) -> list[str]:
    (line,) = (line for line in told["summary"].splitlines() if line.startswith(f"| {title}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def list_measured_parts(resource: Json) -> list[Json]:
    """Return each part of an observation that has a usable, dated, LOINC-coded quantity."""
    parts = [resource, *resource.get("component", ())]
    codes = [{c["system"] for c in part["code"].get("coding", ())} for part in parts]
    return [
        {**part, "when": resource["effectiveDateTime"]}
        for part, systems in zip(parts, codes, strict=True)
        if "effectiveDateTime" in resource
        and "http://loinc.org" in systems
        and re.fullmatch(r"-?\d+(\.\d+)?", part.get("valueQuantity", {}).get("value", ""))
    ]


def is_outside_range(part: Json) -> str:
    """Hold a value against its own range, with its bounds read from the raw JSON."""
    (span,) = part.get("referenceRange") or [{}]
    value = Decimal(part["valueQuantity"]["value"])
    if "low" in span and value < Decimal(span["low"]["value"]):
        return "below its own range"
    if "high" in span and value > Decimal(span["high"]["value"]):
        return "above its own range"
    return "within its own range" if span else ""


async def test_every_value_of_the_example_is_reported_once_with_its_unit_date_and_source():
    told = await follow_trends(EXAMPLE.read_text())

    held = read_resources(EXAMPLE)
    observations = {name: held[name] for name in held if name.startswith("Observation/")}
    wanted = {
        (
            f"b.json#{name}",
            f"{part['code']['text']} (LOINC {part['code']['coding'][0]['code']}) "
            f"{part['valueQuantity']['value']} {part['valueQuantity']['unit']} "
            f"on {part['when'][:16].replace('T', ' ')}",
            is_outside_range(part),
        )
        for name, resource in observations.items()
        for part in list_measured_parts(resource)
    }
    values = [claim for claim in told["claims"] if "smoking" not in claim["source"]]
    assert len(values) == len(wanted) == 34
    for source, text, side in wanted:
        (claim,) = (c for c in values if c["source"] == source and c["text"].startswith(text))
        assert side in claim["text"] and (side or "range" not in claim["text"])


async def test_units_are_kept_apart_and_not_converted():
    told = await follow_trends(
        make_observation("a", 90, "2024-01-01"),
        make_observation("b", 5.5, "2024-06-01", "mmol/L"),
        make_observation("c", 99, "2025-01-01"),
    )

    rows = [line for line in told["summary"].splitlines() if line.startswith("| Glucose")]
    assert len(rows) == 2
    assert any("90 mg/dL on 2024-01-01 | 99 mg/dL on 2025-01-01 | rising" in line for line in rows)
    assert (
        "Glucose comes in different units (mg/dL, mmol/L), which are not compared." in told["gaps"]
    )


async def test_a_value_stands_as_it_was_written():
    text = make_bundle(make_observation("a", 1, "2024-01-01")).replace(
        '"value": 1', '"value": 7.10'
    )

    assert "7.10 mg/dL" in (await follow_trends(text))["summary"]


@pytest.mark.parametrize(
    ("values", "direction"),
    [
        ((5, 6, 7), "rising"),
        ((7, 6, 5), "falling"),
        ((5, 8, 7), "rising, not at each step"),
        ((7, 3, 5), "falling, not at each step"),
        ((5, 5), "unchanged"),
        ((5, 9, 5), "last as first, with changes between"),
        ((5,), "one value"),
    ],
)
async def test_a_direction_compares_last_with_first_and_looks_at_each_step(values, direction):
    results = [make_observation(f"o{n}", value, f"202{n}") for n, value in enumerate(values)]

    told = await follow_trends(*results)

    assert find_row(told, "Glucose")[3] == direction


async def test_values_are_ordered_by_time_whatever_their_place_and_zone():
    told = await follow_trends(
        make_observation("late", 3, "2024-05-02T00:30:00+02:00"),
        make_observation("early", 1, "2024-05-01T20:00:00+00:00"),
        make_observation("first", 2, "2024-04"),
    )

    cells = find_row(told, "Glucose")
    assert cells[1].startswith("2 mg/dL on 2024-04")
    assert cells[2].startswith("3 mg/dL on 2024-05-02")


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ([("a", 5, "2024-05"), ("b", 6, "2024-05-20")], "the order in time is not certain"),
        ([("a", 5, "2024-05-20"), ("b", 6, "2024-05-20")], "the order in time is not certain"),
        ([("a", 5, "2024"), ("b", 6, "2025", "")], "no unit is stated"),
    ],
)
async def test_what_cannot_be_compared_is_not(results, reason):
    told = await follow_trends(*(make_observation(*result) for result in results))

    assert f"not compared: {reason}" in told["summary"] or "one value" in find_row(told, "Glucose")
    assert " rising " not in told["summary"] and " falling " not in told["summary"]


async def test_a_bound_is_shown_and_not_compared():
    least: Json = {"valueQuantity": make_quantity(5) | {"comparator": "<"}}

    told = await follow_trends(
        make_observation("a", 9, "2024"), make_observation("b", None, "2025", **least)
    )

    assert find_row(told, "Glucose")[2:4] == [
        "<5 mg/dL on 2025",
        "not compared: a value is only a bound",
    ]


@pytest.mark.parametrize(
    ("spans", "flag"),
    [
        ([{"low": make_quantity(70), "high": make_quantity(100)}], "above"),
        ([{"low": make_quantity(130)}], "below"),
        ([{"low": make_quantity(120), "high": make_quantity(120)}], "within"),
        ([{"high": make_quantity(5.5, "mmol/L")}], ""),
        ([{"high": {"value": 100}}], ""),
        ([{"text": "see leaflet"}], ""),
        ([{"high": make_quantity(100), "appliesTo": [{"text": "pregnant"}]}], ""),
        ([{"high": make_quantity(100), "age": {"high": {"value": 12}}}], ""),
        ([{"high": make_quantity(100), "type": {"coding": [{"code": "treatment"}]}}], ""),
        ([{"high": make_quantity(100)}, {"high": make_quantity(140)}], ""),
    ],
)
async def test_only_one_range_of_its_own_in_its_own_unit_and_for_everyone_counts(spans, flag):
    told = await follow_trends(make_observation("a", 120, "2024", referenceRange=spans))

    assert find_row(told, "Glucose")[5] == flag
    assert bool(told["findings"]) == (flag in ("above", "below"))
    assert any("Not compared with their range" in gap for gap in told["gaps"]) == (not flag)


async def test_an_interpretation_counts_where_there_is_no_range():
    low = [{"coding": [{"code": "LL"}]}]

    told = await follow_trends(
        make_observation("a", 30, "2024", interpretation=low),
        make_observation("b", 90, "2025", interpretation=[{"text": "fasting"}]),
    )

    (finding,) = told["findings"]
    assert (finding["file"], finding["severity"]) == ("b.json#Observation/a", "high")
    assert find_row(told, "Glucose")[5] == "fasting"


async def test_what_is_missing_is_named():
    absent: Json = {"dataAbsentReason": {"text": "not performed"}}
    local: Json = {"code": {"text": "Lactate"}}

    told = await follow_trends(
        make_observation("bare", 5, "2024"),
        make_observation("undated", 6),
        make_observation("uncoded", 7, "2024", **local),
        make_observation("empty", None, "2024", **absent),
        make_observation("gone", 8, "2024", status="cancelled"),
    )

    gaps = "\n".join(told["gaps"])
    assert "No reference range and no interpretation: Glucose." in gaps
    assert "Without a date, so in no trend: Observation/undated (Glucose, 6 mg/dL)." in gaps
    assert "Without a LOINC code, so in no trend: Observation/uncoded (Lactate)." in gaps
    assert "Without a result: Observation/empty: not performed." in gaps
    assert "Cancelled: Observation/gone." in gaps
    assert [claim["source"] for claim in told["claims"]] == ["b.json#Observation/bare"]


async def test_codes_choose_and_unknown_ones_are_refused_with_those_there_are():
    text = EXAMPLE.read_text()

    told = await follow_trends(text, codes=["4548-4", "2160-0"])
    with pytest.raises(ToolRefused, match=r"no dated values of 1-1; it has 13457-7, 1988-5"):
        await follow_trends(text, codes=["1-1"])

    titles = [line.split(" (")[0] for line in told["summary"].splitlines() if line[:2] == "| "]
    assert titles[2:] == ["| Creatinine", "| Hemoglobin A1c"]


async def test_days_limit_the_values_and_what_may_lie_within_them_counts():
    results = [
        ("a", 5, "2023-12-31"),
        ("b", 6, "2024-01-01"),
        ("c", 7, "2024-06"),
        ("d", 8, "2025"),
    ]
    text = make_bundle(*(make_observation(*result) for result in results))

    told = await follow_trends(text, since="2024-01-01", until="2024-06-15")
    with pytest.raises(ToolRefused, match="no dated values of any code from 2026-01-01 to"):
        await follow_trends(text, since="2026-01-01")

    assert find_row(told, "Glucose")[1:3] == ["6 mg/dL on 2024-01-01", "7 mg/dL on 2024-06"]


async def test_a_long_history_is_cut_to_size_with_the_newest_values_kept():
    many = [
        make_observation(f"o{n}-{year}", year % 17, str(year), code=_make_test_code(n))
        for n in range(90)
        for year in range(1990, 2020)
    ]

    told = await follow_trends(*many)

    assert len(json.dumps(told)) < 22_000
    assert "Test 3: 29 earlier values not shown, of which 0 critical values." in told["gaps"]
    assert any(gap.startswith("Not shown, for length: ") for gap in told["gaps"])
    assert all("on 2019" in claim["text"] for claim in told["claims"])


def _make_test_code(n: int) -> Json:
    return {"text": f"Test {n}", "coding": [{"system": "http://loinc.org", "code": f"{n}-0"}]}
