"""The endpoint of one run: it plays planner, lead, workers and synthesizer in each protocol.

Systems that ask for a `Plan` get the simulator's own script. A lead that delegates by tool calls
gets a model that calls for all parts whose inputs it has read, in one turn, tries what failed once
more, and then answers with what there is and names what is missing. The model of one agent reads
all offers in one turn, and does all the work in the next.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from supervisor_worker.testing.endpoint.request import Body, ModelRequest, get_message_text
from supervisor_worker.testing.endpoint.scripted_model import ModelReply, ScriptedModel
from tests.benchmarks.versus.work import LEAD_S, WHOLE, Part, tell, write_report
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask

REPORT = re.compile(r"Report on (\w+): .*? \[end of \1\]", re.DOTALL)
FAILURE = re.compile(r"failed|error", re.IGNORECASE)
FAILED_TASK = re.compile(r"^failed: (\w+)", re.MULTILINE)
MAX_LEAD_CALLS = 20
"""Of a lead that does not see what it has delegated."""


@dataclass(frozen=True)
class Script:
    """What the models do in one run."""

    parts: Mapping[str, Part]
    scale: float = 1.0
    """Of all seconds."""
    faults: tuple[Fault, ...] = ()
    mistake: Literal["", "cycle", "unknown"] = ""
    """In the first plan or delegation: two tasks that need each other, or a worker or tool that
    does not exist. It is made once."""
    broken: str = ""
    """The part that a lead leaves out once it has failed twice."""
    lies: bool = False

    def build_scenario(self) -> Scenario:
        """Build what systems with a plan are answered."""
        good = Scenario(tasks=tuple(self._script_task(name) for name in self.parts))
        plans = [good.build_plan()]
        if self.mistake:
            plans.insert(0, self._spoil_plan(good.build_plan()))
        lead_s = LEAD_S * self.scale
        return Scenario(
            tasks=good.tasks,
            latency_s={"Plan": lead_s, "Answer": lead_s, "*": lead_s},
            is_paced=True,
            answers={"Plan": plans, "Answer": self._answer_by_schema},
            faults=self.faults,
        )

    def _script_task(self, name: str) -> ScriptedTask:
        part = self.parts[name]
        claim = {"text": part.found, "source": part.document, "quotation": part.quotation}
        claim = {key: tell(name, words, lies=self.lies) for key, words in claim.items() if words}
        return ScriptedTask(
            id=name,
            worker=part.worker,
            depends_on=part.needs,
            latency_s=part.seconds * self.scale,
            description=part.words,
            tool_calls=(("read_document", {"name": part.document}),) if part.document else (),
            report={
                "status": "completed",
                "output": write_report(name, lies=self.lies),
                "claims": [claim],
                "confidence": 90,
            },
        )

    def _spoil_plan(self, plan: dict[str, Any]) -> dict[str, Any]:
        for task in plan["tasks"]:
            if task["id"] == "cost_north" and self.mistake == "cycle":
                task["depends_on"] = ["read_north", "cost_south"]
            elif task["id"] == "cost_south" and self.mistake == "cycle":
                task["depends_on"] = ["read_south", "cost_north"]
            elif task["id"] == "cost_north":
                task["worker"] = "economist"
        return plan

    def _answer_by_schema(self, body: Body) -> dict[str, Any]:
        text = "\n".join(get_message_text(message) for message in body["messages"])
        done = find_reports(text)
        sources = [self.parts[name].document for name in done if self.parts[name].document]
        return {"text": self.write_answer(done, FAILED_TASK.findall(text)), "sources": sources}

    def write_answer(self, done: Mapping[str, str], missing: list[str]) -> str:
        """Write an answer: the reports one below the other, and what is missing."""
        lines = [done[name] for name in self.parts if name in done]
        return "\n".join([*lines, *([f"Missing: {', '.join(missing)}."] if missing else [])])


def find_reports(text: str) -> dict[str, str]:
    """Return the reports in a text, by task."""
    return {found[1]: found[0] for found in REPORT.finditer(text)}


class PlayedModel(ScriptedModel):
    """Answers planners by their schemas, and others by the tools that they offer."""

    def __init__(self, scenario: Scenario, script: Script) -> None:
        super().__init__(scenario)
        self.script, self.written_chars, self.last_answer = script, 0, ""
        self._lead_calls, self._is_mistaken = 0, False

    def compute_latency_s(self, asked: ModelRequest) -> float:
        """Return the seconds of a call: the same for the same work, whoever asks."""
        if asked.schema:
            return super().compute_latency_s(asked)
        parts, seconds = self.script.parts, LEAD_S
        if asked.task:
            seconds = parts[asked.task].seconds / parts[asked.task].turns
        elif "read_document" in asked.tools and asked.turn:
            seconds += sum(part.seconds / part.turns for part in parts.values())
        return seconds * self.script.scale

    def build_reply(self, asked: ModelRequest, body: Body) -> ModelReply:
        """Answer a request, and count what is written."""
        reply = super().build_reply(asked, body) if asked.schema else self._play(asked, body)
        calls = [(reply.name, reply.content), *reply.further_calls]
        self.written_chars += sum(len(json.dumps(call)) for call in calls)
        if asked.schema == "Answer":
            self.last_answer = reply.content["text"]
        elif not (asked.schema or asked.task or reply.name):
            self.last_answer = reply.content
        return reply

    def _play(self, asked: ModelRequest, body: Body) -> ModelReply:
        script = self.script
        if asked.task:
            document = script.parts[asked.task].document
            if document and not asked.turn:
                return ModelReply("read_document", {"name": document})
            return ModelReply(content=write_report(asked.task, lies=script.lies))
        if "read_document" in asked.tools:
            return self._work_alone(body)
        return self._lead(asked, body)

    def _work_alone(self, body: Body) -> ModelReply:
        results = [m for m in body["messages"] if m["role"] == "tool"]
        if any("Unit price" in get_message_text(message) for message in results):
            done = {name: write_report(name, lies=self.script.lies) for name in self.script.parts}
            return ModelReply(content=self.script.write_answer(done, []))
        tool = "read_page" if self._makes_mistake() else "read_document"
        documents = [part.document for part in self.script.parts.values() if part.document]
        return _call([(tool, {"name": document}) for document in documents])

    def _lead(self, asked: ModelRequest, body: Body) -> ModelReply:
        self._lead_calls += 1
        texts = [get_message_text(m) for m in body["messages"] if m["role"] != "system"]
        done = find_reports("\n".join(texts))
        failures = sum(bool(FAILURE.search(t)) and not REPORT.search(t) for t in texts)
        ready = [
            name
            for name, part in self.script.parts.items()
            if name not in done and all(needed in done for needed in part.needs)
        ]
        if failures > 1:
            ready = [name for name in ready if name != self.script.broken]
        if not ready or self._lead_calls > MAX_LEAD_CALLS:
            missing = [name for name in self.script.parts if name not in done]
            return ModelReply(content=self.script.write_answer(done, missing))
        return _call([self._delegate(name, done, asked.tools) for name in ready])

    def _delegate(self, name: str, done: Mapping[str, str], tools: tuple[str, ...]) -> Any:
        part = self.script.parts[name]
        words = "\n".join([f"task: {name}", part.words, *(done[needed] for needed in part.needs)])
        worker = part.worker
        if name == "cost_north" and self._makes_mistake():
            worker = "economist"
        if "task" in tools:
            return "task", {"description": words, "subagent_type": worker}
        if "transfer_to_reader" in tools:
            return f"transfer_to_{worker}", {"task_description": words}
        return worker, {"input": words}

    def _makes_mistake(self) -> bool:
        before, self._is_mistaken = self._is_mistaken, True
        return self.script.mistake == "unknown" and not before


def _call(calls: list[tuple[str, Any]]) -> ModelReply:
    (name, arguments), *others = calls
    return ModelReply(name, arguments, tuple(others))


class Stage(Endpoint):
    """An endpoint that plays one script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        super().__init__(keeps_bodies=False)

    def load_scenario(self, scenario: Scenario) -> None:
        """Load the script's scenario, whatever is given."""
        super().load_scenario(self.script.build_scenario())
        self._model: PlayedModel = PlayedModel(self.scenario, self.script)

    @property
    def last_answer(self) -> str:
        """The words of the last answer that a model wrote."""
        return self._model.last_answer

    @property
    def tokens(self) -> int:
        """Tokens of all requests and replies so far, four characters each, for all alike."""
        sent = sum(call.body_bytes for call in self.requests)
        return (sent + self._model.written_chars) // 4

    def count_finished(self) -> dict[str, int]:
        """Return how often each part that was finished has been asked for."""
        asked = {name: self.select_calls(task=name) for name in self.script.parts}
        return {
            name: len(calls)
            for name, calls in asked.items()
            if sum(bool(each.ended_s and not each.client_gone) for each in calls)
            >= WHOLE[name].turns
        }
