"""Choose what the model says to a request: a tool call, a schema's arguments, or words."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.endpoint.request import Asked, Body
from tests.endpoint.scenario import Json, Scenario


@dataclass(frozen=True)
class Said:
    """A tool call when `name` is given, else words or JSON in the content."""

    name: str = ""
    value: Json = ""
    also: tuple[tuple[str, Json], ...] = ()
    """Further tool calls of the same turn."""
    call_id: str | None = None
    """Of every tool call; each has one of its own without it."""


class Script:
    """Plays a scenario; remembers which answers have been used up."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._used: Counter[str] = Counter()

    def say(self, asked: Asked, body: Body) -> Said:
        """Answer a request."""
        task = self.scenario.task(asked.task)
        begun = asked.turn * task.calls_a_turn
        if asked.schema == "Report" and not asked.forced and begun < len(task.tool_calls):
            (name, arguments), *others = task.tool_calls[begun : begun + task.calls_a_turn]
            return Said(name, arguments, tuple(others), call_id=task.call_id)
        value = self._value(asked, body)
        if isinstance(value, Said):
            return value
        if isinstance(value, str):
            return Said(value=value)
        return Said(asked.schema if asked.by_tool else "", value)

    def latency_s(self, asked: Asked) -> float:
        """Give the seconds a request takes."""
        task = self.scenario.task(asked.task)
        if asked.schema == "Report" and task.latency_s:
            return task.latency_s / (-(-len(task.tool_calls) // task.calls_a_turn) + 1)
        by_schema = self.scenario.latency_s
        return by_schema.get(asked.schema, by_schema.get("*", 0.0))

    def _value(self, asked: Asked, body: Body) -> Json:
        scripted = self.scenario.answers.get(asked.schema)
        key = asked.schema
        if asked.schema == "Report":
            report = self.scenario.task(asked.task).report
            if report is not None:
                scripted, key = report, f"Report {asked.task}"
        if callable(scripted):
            return scripted(body)
        if isinstance(scripted, list | tuple) and scripted:
            self._used[key] += 1
            return scripted[min(self._used[key], len(scripted)) - 1]
        return self._default(asked) if scripted is None else scripted

    def _default(self, asked: Asked) -> Json:
        match asked.schema:
            case "Plan":
                return self.scenario.plan()
            case "Report":
                return report(asked.task)
            case "Answer":
                names = [f"{task.id}.md" for task in self.scenario.tasks]
                return {"text": "The answer, from " + ", ".join(names), "sources": names}
            case "Refinement":
                words = f"Write {asked.task}.md again, naming each figure with its page."
                return {"description": words, "reason": "The first words were too broad."}
            case "":
                return "The endpoint has nothing to add."
            case _:
                return sample(asked.parameters, asked.parameters.get("$defs", {}))


def report(task: str) -> dict[str, Json]:
    """Give the report a worker's model makes when nothing else is scripted."""
    return {
        "status": "completed",
        "output": f"Result of {task}: part {task} costs 42 euros.",
        "claims": [{"text": f"Part {task} costs 42 euros.", "source": f"{task}.md"}],
        "confidence": 90,
    }


def sample(schema: dict[str, Any], defs: dict[str, Any]) -> Json:
    """Give a small value that a JSON schema admits: required fields only, first of each choice."""
    if "$ref" in schema:
        return sample(defs.get(schema["$ref"].rsplit("/", 1)[-1], {}), defs)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return sample(schema[key][0], defs)
    return _sample_of_type(schema, defs)


def _sample_of_type(schema: dict[str, Any], defs: dict[str, Any]) -> Json:
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            return {name: sample(fields.get(name, {}), defs) for name in schema.get("required", ())}
        case "array":
            return [sample(schema.get("items", {}), defs)] * schema.get("minItems", 0)
        case "integer" | "number":
            return max(schema.get("minimum", 0), min(schema.get("maximum", 80), 80))
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return "scripted"
