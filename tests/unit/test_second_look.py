"""A second look at grave findings just below the threshold."""

from nodes.synthesis.findings import look_again, select_doubtful
from state import MergedFinding, Severity
from supervisor_worker.testing.fake_models import FakeChatModel
from tests.node_runs import NodeRun

FILES = {"pay.py": "def pay(order):\n    total = order.total\n    return send(total)\n"}


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
    rulings = [
        {"finding": 1, "holds": True, "reason": "pay(None) is called"},
        {"finding": 2, "holds": False, "reason": "send takes None"},
    ]
    model, run = FakeChatModel(replies={"SecondLook": [{"rulings": rulings}]}), NodeRun()

    found = [make_finding(), make_finding(line=3)]
    kept, usage = await run.call(look_again, model, found, FILES, 80)

    (event,) = run.list_events("second_look")
    assert [each["kept"] for each in event["findings"]] == [True, False]
    assert [(each.line, each.confidence) for each in kept] == [(2, 80)]
    assert usage.model_calls == 1 and "2:     total = order.total" in model.calls[0].text


async def test_without_a_readable_look_none_is_kept() -> None:
    kept, _ = await look_again(None, [make_finding()], FILES, 80)

    assert kept == ()
