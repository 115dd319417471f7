"""JSON from outside that is nested deeper than anything here reads, shows or stores."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from nodes.errors import BadResponse
from nodes.limits.nesting import (
    MAX_READ_LEVELS,
    MAX_STORABLE_LEVELS,
    NestedTooDeeply,
    is_nested_too_deeply,
    parse_json,
)
from nodes.models.json_reading import InvalidJson, require_storable
from nodes.models.request import require_usable

BRACKETS = "[" * 200_000
"""Deeper than any version of Python reads."""


def nest(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def write_nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_a_value_is_as_deep_as_its_lists_and_objects_within_each_other() -> None:
    assert not is_nested_too_deeply({"a": [({"b": 1},)]}, max_levels=4)
    assert is_nested_too_deeply({"a": [({"b": 1},)]}, max_levels=3)
    assert not is_nested_too_deeply("text", max_levels=0)


def test_json_is_read_to_a_depth_that_is_the_same_for_every_python() -> None:
    assert parse_json(write_nested(MAX_READ_LEVELS).encode())

    for text in (write_nested(MAX_READ_LEVELS + 1), write_nested(900), BRACKETS):
        with pytest.raises(NestedTooDeeply):
            parse_json(text)


def test_what_a_model_sends_is_stored_to_a_smaller_depth_as_it_is_within_other_values() -> None:
    require_storable(nest(MAX_STORABLE_LEVELS))

    with pytest.raises(InvalidJson, match="nested too deeply"):
        require_storable(nest(MAX_STORABLE_LEVELS + 1))


def test_a_tool_call_with_deep_arguments_is_an_error_of_the_model() -> None:
    call = {"name": "find", "args": {"a": nest(MAX_STORABLE_LEVELS)}, "id": "1"}

    with pytest.raises(BadResponse, match="called find with arguments that are nested too deeply"):
        require_usable(AIMessage("", tool_calls=[call]), "stop", "a model")
