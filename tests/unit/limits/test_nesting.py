"""JSON and schemas from outside that are nested deeper than anything here reads, or expand."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from nodes.errors import BadResponse
from nodes.limits.nesting import (
    MAX_EXPANDED_LEVELS,
    MAX_READ_LEVELS,
    MAX_STORABLE_LEVELS,
    NestedTooDeeply,
    SchemaRefused,
    expand_references,
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


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}


def make_schema(part: Any, **definitions: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": part}, "$defs": definitions}


def expand(part: Any, **definitions: Any) -> Any:
    return expand_references(make_schema(part, **definitions))["properties"]["a"]


def test_a_reference_becomes_what_it_names_with_what_is_beside_it() -> None:
    part = {"$ref": "#/$defs/a~1b%20c", "description": "Here."}

    expanded = expand(part, **{"a/b c": {"type": "string", "description": "There."}})

    assert expanded == {"type": "string", "description": "Here."}


def test_a_schema_within_itself_is_any_value() -> None:
    node = expand({"$ref": "#/$defs/node"}, node=NODE)

    assert node == {"type": "object", "properties": {"next": {}}}


def test_it_expands_as_the_form_of_the_provider_does() -> None:
    schema = make_schema({"items": {"$ref": "#/$defs/node"}}, node=NODE)

    def describe(schema: dict[str, Any]) -> Any:
        tool = StructuredTool(name="x", description="X.", args_schema=schema, func=print)
        return convert_to_openai_tool(tool)["function"]["parameters"]["properties"]

    assert describe(expand_references(schema)) == describe(schema)


def test_names_of_properties_are_no_keywords() -> None:
    fields = {"definitions": {"type": "string"}, "properties": {"type": "string"}, "items": True}

    assert expand({"properties": fields}) == {"properties": {**fields, "items": {}}}


def test_true_is_a_schema_only_where_schemas_are() -> None:
    assert expand({"enum": [True, 1, "x", None]}) == {"enum": [True, 1, "x", None]}
    assert expand({"anyOf": [True, False]}) == {"anyOf": [{}, {"not": {}}]}


@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "http://127.0.0.1:9/x"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#node"},
        {"$ref": "#/$defs/none"},
        {"$ref": "#/type"},
        {"$ref": "#/$defs/list/anyOf/" + "9" * 5_000},
        {"$ref": 3},
        {"properties": {"$ref": {"type": "string"}}},
        {"maximum": 10**400},
        {"maximum": float("inf")},
    ],
)
def test_what_cannot_be_resolved_sent_or_stored_is_refused(part: Any) -> None:
    with pytest.raises(SchemaRefused):
        expand(part, node=NODE, list={"anyOf": [NODE]})


def test_references_that_multiply_are_refused() -> None:
    everything = [{"$ref": f"#/$defs/n{number}"} for number in range(12)]
    cyclic = {f"n{number}": {"anyOf": everything} for number in range(12)}

    with pytest.raises(SchemaRefused, match="more than 64,000 characters"):
        expand({"$ref": "#/$defs/n0"}, **cyclic)


@pytest.mark.parametrize("wrap", [lambda inner: inner, lambda inner: {"not": inner}])
def test_a_chain_of_references_is_refused_beyond_the_depth(wrap: Any) -> None:
    chain = {f"n{i}": wrap({"$ref": f"#/$defs/n{i + 1}"}) for i in range(5_000)}

    with pytest.raises(SchemaRefused, match=f"deeper than {MAX_EXPANDED_LEVELS} levels"):
        expand({"$ref": "#/$defs/n0"}, **chain)
