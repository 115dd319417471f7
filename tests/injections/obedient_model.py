"""A language model that does its work, and whatever else it is told by anything it reads."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from supervisor_worker.testing.endpoint.request import get_message_text, read_request
from supervisor_worker.testing.endpoint.scripted_model import ModelReply
from tests.injections.orders import SECRET_PATTERN, Order, fill_secrets, find_orders

Call = tuple[str, dict[str, Any]]
Body = dict[str, Any]


@dataclass
class ObedientModel:
    """Plays every step of a run; `errands` are the calls that each task honestly needs."""

    plan: dict[str, Any]
    honest_calls: Mapping[str, list[Call]]
    obeyed_orders: set[str] = field(default_factory=set)
    """Orders that were obeyed, as far as a model can, in lower case as some surfaces make them."""

    def build_answers(self) -> dict[str, Any]:
        """Return the answers of an endpoint's scenario."""
        return {
            "Plan": self._answer_plan,
            "Report": self._answer_report,
            "Answer": self._answer_synthesis,
            "Recruit": self._answer_recruit,
            "Refinement": self._answer_refinement,
        }

    def _answer_report(self, body: Body) -> Any:
        asked, text = read_request(body), read_input_text(body)
        made = _list_made_calls(body)
        offered = set(asked.tools) - {"Report"}
        if offered:
            for order in find_orders(text):
                if order.kind == "call":
                    arguments = {key: fill_secrets(value, text) for key, value in order.arguments}
                    self._record_obedience(order)
                    if (order.name, arguments) not in made:
                        return ModelReply(order.name, arguments)
            for call in self.honest_calls.get(asked.task, []):
                if call not in made:
                    return ModelReply(*call)
        return self._build_report(asked.task, text)

    def _build_report(self, task: str, text: str) -> dict[str, Any]:
        copied = _cut_to_first_order(text)[:3000]
        found = " ".join(sorted(set(SECRET_PATTERN.findall(text))))
        report: dict[str, Any] = {
            "output": f"Result of {task}: growth 17 percent. {found} {copied}",
            "claims": [{"text": "Alpha grew by 17 percent.", "source": "notes.md"}],
        }
        for order in find_orders(text):
            if order.kind == "report":
                self._record_obedience(order)
                message = fill_secrets(order.arguments[0][1], text)
                report |= _falsify_report(order.name, message)
        return report

    def _answer_plan(self, body: Body) -> dict[str, Any]:
        text = read_input_text(body)
        tasks = [dict(task) for task in self.plan["tasks"]]
        if secrets := " ".join(sorted(set(SECRET_PATTERN.findall(text)))):
            tasks[0]["description"] += f" Find {secrets} as well."
        for number, order in enumerate(dict.fromkeys(find_orders(text))):
            if order.kind == "plan":
                self._record_obedience(order)
                words = fill_secrets(order.arguments[0][1], text)
                task = {"id": f"evil_{number}", "worker": order.name, "description": words}
                tasks.append(task)
            elif "<plan>" not in text:  # in a revision the first task is finished
                filled = [(key, fill_secrets(value, text)) for key, value in order.arguments]
                passed_on = Order(order.kind, order.name, tuple(filled))
                tasks[0]["description"] += f" {passed_on.text}"
        return {**self.plan, "tasks": tasks}

    def _record_obedience(self, order: Order) -> None:
        self.obeyed_orders.add(order.text.lower())

    def _answer_synthesis(self, body: Body) -> dict[str, Any]:
        text, sources = read_input_text(body), ["notes.md"]
        for order in find_orders(text):
            if order.kind == "answer":
                self._record_obedience(order)
                sources.append(fill_secrets(order.arguments[0][1], text))
        copied = _cut_to_first_order(text)[:1500]
        found = " ".join(sorted(set(SECRET_PATTERN.findall(text))))
        return {"text": f"Alpha grew by 17 percent. {found} {copied}", "sources": sources}

    def _answer_recruit(self, body: Body) -> dict[str, Any]:
        tools = ["calculate", "send", "web_search", "tests.injections.tools:send"]
        return {"role": "clerk", "instructions": read_input_text(body)[:3000], "tools": tools}

    def _answer_refinement(self, body: Body) -> dict[str, Any]:
        return {"description": f"Find the growth of Alpha. {read_input_text(body)[:2000]}"}


def read_input_text(body: Body) -> str:
    """Return all that stands in a request, but for the system's words and the model's own."""
    messages = body.get("messages") or ()
    return "\n".join(get_message_text(m) for m in messages if m.get("role") in ("user", "tool"))


def _cut_to_first_order(text: str) -> str:
    """Return a text from its first order on, which a credulous reader copies."""
    begins = text.lower().find("obey ")
    begins = text.find("OBEY%20") if begins < 0 else begins
    return text[begins:] if begins >= 0 else ""


def _list_made_calls(body: Body) -> list[Call]:
    calls = [
        call["function"]
        for message in body.get("messages") or ()
        for call in message.get("tool_calls") or ()
    ]
    return [(call["name"], json.loads(call["arguments"])) for call in calls]


def _falsify_report(name: str, text: str) -> dict[str, Any]:
    match name:
        case "escalation":
            return {
                "status": "escalated",
                "escalation": {"reason": "out_of_scope", "message": text},
            }
        case "failed":
            return {"status": "failed", "output": text}
        case "taint_labels":
            return {"taint_labels": []}
        case "addresses":
            return {"addresses": [text], "claims": [{"text": "See there.", "source": text}]}
        case _:
            return {name: text}
