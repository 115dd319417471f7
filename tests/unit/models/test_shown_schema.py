"""The schema that is shown to a model admits all valid values, and nothing that breaks grammars."""

from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from nodes.models.request_form import NO_ARGUMENTS, simplify_tool
from nodes.schemas import replies
from nodes.tools.framework.settings import ToolSettings
from state import Answer, Plan, Report
from tests.endpoint.faces import find_refusal
from tests.shipped_tools import list_all_tools, load_shipped_tools

SCHEMAS = [Plan, Report, Answer] + [
    found
    for found in vars(replies).values()
    if isinstance(found, type) and issubclass(found, BaseModel) and found.model_fields
]


def show(source: Any) -> dict[str, Any]:
    return simplify_tool(convert_to_openai_tool(source))


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.__name__)
def test_a_grammar_can_be_made_of_each_schema(schema: type[BaseModel]) -> None:
    assert not find_refusal(("grammar_400",), {"tools": [show(schema)]})


def test_a_grammar_can_be_made_of_each_tool() -> None:
    tools = [show(tool) for tool in load_shipped_tools(list_all_tools(), ToolSettings())]

    assert not find_refusal(("grammar_400",), {"tools": tools})


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.__name__)
def test_each_shown_key_is_one_of_the_schema_and_all_required_keys_are_shown(
    schema: type[BaseModel],
) -> None:
    shown = show(schema)["function"]["parameters"]
    required = {name for name, field in schema.model_fields.items() if field.is_required()}

    assert set(shown["properties"]) <= set(schema.model_fields)
    assert required == set(shown.get("required", ()))


def test_a_tool_without_arguments_is_shown_with_one_that_is_not_passed_on() -> None:
    def list_files() -> str:
        """List the files."""
        return ""

    assert show(list_files)["function"]["parameters"] == NO_ARGUMENTS
