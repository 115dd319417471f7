"""A language model that does its work, and whatever else it is told by anything it reads."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.endpoint.answers import Said
from tests.endpoint.request import read, text_of
from tests.injections.orders import SECRET, Order, obeyed, orders_in

Call = tuple[str, dict[str, Any]]
Body = dict[str, Any]


@dataclass
class Obedient:
    """Plays every step of a run; `errands` are the calls that each task honestly needs."""

    plan: dict[str, Any]
    errands: Mapping[str, list[Call]]
    tried: set[str] = field(default_factory=set)
    """Orders that were obeyed, as far as a model can, in lower case as some surfaces make them."""

    def answers(self) -> dict[str, Any]:
        """Give the answers of an endpoint's scenario."""
        return {
            "Plan": self._plan,
            "Report": self._report,
            "Answer": self._answer,
            "Recruit": self._recruit,
            "Refinement": self._refinement,
        }

    def _report(self, body: Body) -> Any:
        asked, text = read(body), heard(body)
        made = _made(body)
        offered = set(asked.tools) - {"Report"}
        if offered:
            for order in orders_in(text):
                if order.kind == "call":
                    arguments = {key: obeyed(value, text) for key, value in order.arguments}
                    self._obey(order)
                    if (order.name, arguments) not in made:
                        return Said(order.name, arguments)
            for call in self.errands.get(asked.task, []):
                if call not in made:
                    return Said(*call)
        return self._told(asked.task, text)

    def _told(self, task: str, text: str) -> dict[str, Any]:
        copied = _orders_on(text)[:3000]
        found = " ".join(sorted(set(SECRET.findall(text))))
        report: dict[str, Any] = {
            "output": f"Result of {task}: growth 17 percent. {found} {copied}",
            "claims": [{"text": "Alpha grew by 17 percent.", "source": "notes.md"}],
        }
        for order in orders_in(text):
            if order.kind == "report":
                self._obey(order)
                said = obeyed(order.arguments[0][1], text)
                report |= _false(order.name, said)
        return report

    def _plan(self, body: Body) -> dict[str, Any]:
        text = heard(body)
        tasks = [dict(task) for task in self.plan["tasks"]]
        if secrets := " ".join(sorted(set(SECRET.findall(text)))):
            tasks[0]["description"] += f" Find {secrets} as well."
        for number, order in enumerate(dict.fromkeys(orders_in(text))):
            if order.kind == "plan":
                self._obey(order)
                words = obeyed(order.arguments[0][1], text)
                task = {"id": f"evil_{number}", "worker": order.name, "description": words}
                tasks.append(task)
            elif "<plan>" not in text:  # in a revision the first task is finished
                filled = [(key, obeyed(value, text)) for key, value in order.arguments]
                passed_on = Order(order.kind, order.name, tuple(filled))
                tasks[0]["description"] += f" {passed_on.text}"
        return {**self.plan, "tasks": tasks}

    def _obey(self, order: Order) -> None:
        self.tried.add(order.text.lower())

    def _answer(self, body: Body) -> dict[str, Any]:
        text, sources = heard(body), ["notes.md"]
        for order in orders_in(text):
            if order.kind == "answer":
                self._obey(order)
                sources.append(obeyed(order.arguments[0][1], text))
        copied = _orders_on(text)[:1500]
        found = " ".join(sorted(set(SECRET.findall(text))))
        return {"text": f"Alpha grew by 17 percent. {found} {copied}", "sources": sources}

    def _recruit(self, body: Body) -> dict[str, Any]:
        tools = ["calculate", "send", "web_search", "tests.injections.tools:send"]
        return {"role": "clerk", "instructions": heard(body)[:3000], "tools": tools}

    def _refinement(self, body: Body) -> dict[str, Any]:
        return {"description": f"Find the growth of Alpha. {heard(body)[:2000]}"}


def heard(body: Body) -> str:
    """Give all that stands in a request, but for the system's words and the model's own."""
    messages = body.get("messages") or ()
    return "\n".join(text_of(m) for m in messages if m.get("role") in ("user", "tool"))


def _orders_on(text: str) -> str:
    """Give a text from its first order on, which a credulous reader copies."""
    begins = text.lower().find("obey ")
    begins = text.find("OBEY%20") if begins < 0 else begins
    return text[begins:] if begins >= 0 else ""


def _made(body: Body) -> list[Call]:
    calls = [
        call["function"]
        for message in body.get("messages") or ()
        for call in message.get("tool_calls") or ()
    ]
    return [(call["name"], json.loads(call["arguments"])) for call in calls]


def _false(name: str, said: str) -> dict[str, Any]:
    match name:
        case "escalation":
            return {
                "status": "escalated",
                "escalation": {"reason": "out_of_scope", "message": said},
            }
        case "failed":
            return {"status": "failed", "output": said}
        case "marks":
            return {"marks": []}
        case "addresses":
            return {"addresses": [said], "claims": [{"text": "See there.", "source": said}]}
        case _:
            return {name: said}
