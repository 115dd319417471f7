"""Choose what the model says to a request: a tool call, a schema's arguments, or words."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from supervisor_worker.testing.endpoint.request import Body, ModelRequest
from supervisor_worker.testing.endpoint.scenario import Json, Scenario


@dataclass(frozen=True)
class ModelReply:
    """A tool call when `name` is given, else words or JSON in the content."""

    name: str = ""
    content: Json = ""
    further_calls: tuple[tuple[str, Json], ...] = ()
    """Further tool calls of the same turn."""
    call_id: str | None = None
    """Of every tool call; each has one of its own without it."""
    words: str = ""
    """Beside the tool calls."""


class ScriptedModel:
    """Plays a scenario; remembers which answers have been used up."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._use_counts: Counter[str] = Counter()

    def build_reply(self, asked: ModelRequest, body: Body) -> ModelReply:
        """Answer a request; one that asks for a call as JSON gets it as JSON."""
        reply = self._choose_reply(asked, body)
        if asked.is_call_as_json and reply.name:
            return ModelReply(content={"name": reply.name, "arguments": reply.content})
        return reply

    def _choose_reply(self, asked: ModelRequest, body: Body) -> ModelReply:
        task = self.scenario.find_task(asked.task)
        begun = asked.turn * task.calls_a_turn
        if asked.schema == "Report" and not asked.is_forced and begun < len(task.tool_calls):
            (name, arguments), *others = task.tool_calls[begun : begun + task.calls_a_turn]
            return ModelReply(name, arguments, tuple(others), call_id=task.call_id)
        value = self._choose_content(asked, body)
        if asked.schema == "Report" and isinstance(value, dict):
            value = {"found_as_expected": True, **value}
        if isinstance(value, ModelReply):
            return value
        if isinstance(value, str):
            return ModelReply(content=value)
        return ModelReply(asked.schema if asked.is_by_tool else "", value)

    def compute_latency_s(self, asked: ModelRequest) -> float:
        """Return the seconds a request takes."""
        task = self.scenario.find_task(asked.task)
        if asked.schema == "Report" and task.latency_s:
            return task.latency_s / (-(-len(task.tool_calls) // task.calls_a_turn) + 1)
        by_schema = self.scenario.latency_s
        return by_schema.get(asked.schema, by_schema.get("*", 0.0))

    def _choose_content(self, asked: ModelRequest, body: Body) -> Json:
        scripted = self.scenario.answers.get(asked.schema)
        key = asked.schema
        if asked.schema == "Report":
            report = self.scenario.find_task(asked.task).report
            if report is not None:
                scripted, key = report, f"Report {asked.task}"
        if callable(scripted):
            return scripted(body)
        if isinstance(scripted, list | tuple) and scripted:
            self._use_counts[key] += 1
            return scripted[min(self._use_counts[key], len(scripted)) - 1]
        return self._build_default(asked) if scripted is None else scripted

    def _build_default(self, asked: ModelRequest) -> Json:
        match asked.schema:
            case "Plan":
                return self.scenario.build_plan()
            case "Report":
                return build_report(asked.task)
            case "Answer":
                names = [f"{task.id}.md" for task in self.scenario.tasks]
                return {"text": "The answer, from " + ", ".join(names), "sources": names}
            case "Refinement":
                words = f"Write {asked.task}.md again, naming each figure with its page."
                return {"description": words, "reason": "The first words were too broad."}
            case "":
                return "The endpoint has nothing to add."
            case _:
                return build_sample(asked.parameters, asked.parameters.get("$defs", {}))


def build_report(task: str) -> dict[str, Json]:
    """Return the report a worker's model makes when nothing else is scripted."""
    return {
        "status": "completed",
        "output": f"Result of {task}: part {task} costs 42 euros.",
        "claims": [{"text": f"Part {task} costs 42 euros.", "source": f"{task}.md"}],
        "confidence": 90,
    }


def build_sample(schema: dict[str, Any], defs: dict[str, Any]) -> Json:
    """Give a small value that a JSON schema admits: required fields only, first of each choice."""
    if "$ref" in schema:
        return build_sample(defs.get(schema["$ref"].rsplit("/", 1)[-1], {}), defs)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return build_sample(schema[key][0], defs)
    return _build_sample_of_type(schema, defs)


def _build_sample_of_type(schema: dict[str, Any], defs: dict[str, Any]) -> Json:
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            return {
                name: build_sample(fields.get(name, {}), defs)
                for name in schema.get("required", ())
            }
        case "array":
            return [build_sample(schema.get("items", {}), defs)] * schema.get("minItems", 0)
        case "integer" | "number":
            return max(schema.get("minimum", 0), min(schema.get("maximum", 80), 80))
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return "scripted"
