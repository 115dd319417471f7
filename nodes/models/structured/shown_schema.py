"""The form of a JSON schema that is shown to a model: short, and free of what servers refuse.

Of the bounds only `maxItems` is shown, which ends the lists of a small model, and that a list is
not empty.

Grammars of llama.cpp fail on `pattern` with `\\-` and on long `maxLength` (its issues #27597 and
#17473). Values are validated here by the full schema, whatever was shown.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

UNSHOWN_KEYS = frozenset(
    {
        "$schema",
        "additionalProperties",
        "default",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "title",
        "uniqueItems",
    }
)
MAX_REFERENCE_DEPTH = 12
NO_ARGUMENTS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string", "description": "why it is called"}},
}
"""Shown for a tool without arguments, and removed from its calls: a grammar of llama.cpp fails on
an object without keys (its issue #25923)."""

Schema = Mapping[str, Any]


def simplify_schema(schema: Schema) -> dict[str, Any]:
    """Return a JSON schema without bounds, patterns, defaults, titles and references."""
    simple: dict[str, Any] = _simplify(schema, schema.get("$defs") or {}, MAX_REFERENCE_DEPTH)
    simple.pop("description", None)  # the tool has the same
    return simple


def simplify_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool in OpenAI's form with its parameters simplified."""
    function = tool["function"]
    parameters: Schema = simplify_schema(function.get("parameters") or {})
    if not parameters.get("properties") and not parameters.get("additionalProperties"):
        parameters = NO_ARGUMENTS
    return {**tool, "function": {**function, "parameters": parameters}}


def _simplify(value: Any, definitions: Schema, depth: int) -> Any:
    if isinstance(value, list):
        return [_simplify(item, definitions, depth) for item in value]
    if not isinstance(value, Mapping):
        return value
    if "$ref" in value:
        if not depth:  # it holds itself: any value is shown
            return {}
        target = definitions.get(str(value["$ref"]).rsplit("/", 1)[-1], {})
        rest = {key: value[key] for key in value if key != "$ref"}
        return _simplify({**target, **rest}, definitions, depth - 1)
    shown = {
        key: _simplify_keyword(key, item, definitions, depth)
        for key, item in value.items()
        if key != "$defs" and (key not in UNSHOWN_KEYS or _is_shown_value(key, item))
    }
    return _drop_null_choice(shown)


def _is_shown_value(key: str, item: Any) -> bool:
    is_schema_of_values = key == "additionalProperties" and isinstance(item, Mapping)
    return is_schema_of_values or (key == "minItems" and item == 1)


def _simplify_keyword(key: str, item: Any, definitions: Schema, depth: int) -> Any:
    if key in ("enum", "const", "required", "description"):
        return item
    if key == "properties":
        return {name: _simplify(field, definitions, depth) for name, field in item.items()}
    simple = _simplify(item, definitions, depth)
    if key == "items" and isinstance(simple, dict):
        simple.pop("description", None)  # the list has one
    return simple


def _drop_null_choice(schema: dict[str, Any]) -> dict[str, Any]:
    """Return `X or null` as X: a key that is not required may be left out instead."""
    choices = schema.get("anyOf")
    if not isinstance(choices, list):
        return schema
    kept = [choice for choice in choices if choice != {"type": "null"}]
    if len(kept) != 1:
        return schema
    rest = {key: schema[key] for key in schema if key != "anyOf"}
    return {**kept[0], **rest}


def drop_descriptions(schema: Any) -> Any:
    """Return a schema without descriptions; a property of that name stays."""
    if isinstance(schema, list):
        return [drop_descriptions(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: {name: drop_descriptions(field) for name, field in item.items()}
        if key == "properties"
        else drop_descriptions(item)
        for key, item in schema.items()
        if key != "description"
    }


def list_keys(schema: Schema) -> str:
    """Return the keys of a schema as one line of nested names, for a reply that a grammar holds."""
    if schema.get("type") == "array":
        return f"[{list_keys(schema.get('items') or {})}]"
    fields = schema.get("properties") or {}
    inner = {name: list_keys(field) for name, field in fields.items()}
    named = [f"{name}: {keys}" if keys not in ("", "[]") else name for name, keys in inner.items()]
    return f"{{{', '.join(named)}}}" if named else ""


def list_descriptions(schema: Schema, place: str = "") -> list[str]:
    """Return the descriptions of a schema's keys, a line each."""
    fields = (schema.get("items") or schema).get("properties") or {}
    lines = []
    for name, field in fields.items():
        path = f"{place}.{name}" if place else name
        lines += [f"{path}: {field['description']}"] if field.get("description") else []
        lines += list_descriptions(field, path)
    return lines


def describe_schema(schema: Schema) -> str:
    """Return a schema as a commented form of its JSON, a line a key; `?` marks an optional one."""
    return _describe(schema, "")


def _describe(schema: Schema, indent: str) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_describe(choice, indent) for choice in schema["anyOf"])
    if schema.get("type") == "array":
        return f"[{_describe(schema.get('items') or {}, indent)}]"
    if fields := schema.get("properties"):
        return _describe_object(fields, schema.get("required") or (), indent)
    kind = schema.get("type", "any value")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _describe_object(fields: Schema, required: Sequence[str], indent: str) -> str:
    inner = f"{indent} "
    lines = []
    for name, field in fields.items():
        key = f'"{name}"' if name in required else f'"{name}"?'
        comment = f" // {field['description']}" if field.get("description") else ""
        lines.append(f"{inner}{key}: {_describe(field, inner)}{comment}")
    return "{\n" + "\n".join(lines) + f"\n{indent}}}"
