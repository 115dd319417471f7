"""A second look at grave findings just below the threshold."""

from typing import TypedDict

from langgraph.graph import START, StateGraph

from nodes.synthesis.findings import look_again, select_doubtful
from state import MergedFinding, Severity, Usage
from tests.fake_models import FakeChatModel

FILES = {"pay.py": "def pay(order):\n    total = order.total\n    return send(total)\n"}


class Looking(TypedDict, total=False):
    look: tuple[tuple[MergedFinding, ...], Usage]


def make_finding(
    severity: Severity = "high", confidence: int | None = 70, line: int = 2
) -> MergedFinding:
    return MergedFinding(
        severity=severity, message="order may be None", file="pay.py", line=line,
        confidence=confidence, reporters=("bugs",),
    )  # fmt: skip


def test_only_grave_findings_just_below_the_threshold_are_looked_at() -> None:
    asked = make_finding()
    others = (
        make_finding("low"),
        make_finding(confidence=59),
        make_finding(confidence=80),
        make_finding(confidence=None),
    )

    assert select_doubtful((asked, *others), 80) == (asked,)


async def test_a_grave_finding_below_the_threshold_is_kept_if_it_holds() -> None:
    model = FakeChatModel(
        replies={
            "SecondLook": [
                {
                    "rulings": [
                        {"finding": 1, "holds": True, "reason": "pay(None) is called"},
                        {"finding": 2, "holds": False, "reason": "send takes None"},
                    ]
                }
            ]
        }
    )

    async def look(state: Looking) -> Looking:
        return {"look": await look_again(model, [make_finding(), make_finding(line=3)], FILES, 80)}

    builder = StateGraph(Looking)  # events need a run
    builder.add_node("look", look)
    builder.add_edge(START, "look")

    kept, usage = (await builder.compile().ainvoke(Looking()))["look"]

    assert [(each.line, each.confidence) for each in kept] == [(2, 80)]
    assert usage.model_calls == 1 and "2:     total = order.total" in model.calls[0].text


async def test_without_a_readable_look_none_is_kept() -> None:
    kept, _ = await look_again(None, [make_finding()], FILES, 80)

    assert kept == ()
