"""Outcomes, plans and graphs in a notebook: HTML that loads nothing and runs nothing."""

import asyncio
import builtins
import sys
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from extensions.notebook.plan_picture import draw_plan
from extensions.notebook.progress import CellProgress, add_progress
from graph import build_supervisor
from graph.runs.outcome import Outcome
from nodes.tools.framework.extras import PackageMissing
from state import Answer, Claim, Dependency, Plan, Report, Task
from tests.teams import make_team

EVIL = "<script>alert(1)</script>![](http://elsewhere/leak.png)"
SVG = "{http://www.w3.org/2000/svg}"


def make_plan(*edges: tuple[str, str]) -> Plan:
    names = sorted({name for edge in edges for name in edge})
    tasks = tuple(
        Task(
            id=name,
            description=f"Do {name} {EVIL}",
            worker="writer",
            depends_on=tuple(Dependency(task=a, required=a != "b") for a, b in edges if b == name),
        )
        for name in names
    )
    return Plan(goal="g", tasks=tasks)


def make_outcome() -> Outcome:
    claims = (Claim(text=EVIL, source="a.md", quotation="q", proof="quoted"),)
    return Outcome(
        thread="t",
        status="done",
        answer=Answer(text=f"# Title\n\n{EVIL} [x](javascript:alert(1))", claims=claims),
        plan=make_plan(("a", "c"), ("b", "c")),
        results={"a": Report(task="a", worker="writer", output="o", confidence=80)},
    )


def test_a_task_is_drawn_right_of_what_it_needs_and_an_optional_need_is_dashed() -> None:
    picture = draw_plan(make_plan(("a", "c"), ("b", "c")), {"a": "failed"})

    tree = ElementTree.fromstring(picture)
    places = {
        group.findall(f"{SVG}text")[0].text: float(group.findall(f"{SVG}rect")[0].attrib["x"])
        for group in tree.findall(f"{SVG}g")
    }
    assert places["a"] == places["b"] < places["c"]
    assert picture.count("stroke-dasharray") == 1 and "failed" in picture


def test_a_long_chain_and_a_single_task_are_drawn() -> None:
    chain = [(f"t{number:02}", f"t{number + 1:02}") for number in range(39)]

    assert draw_plan(make_plan(*chain)).count("<rect") == 40
    assert ElementTree.fromstring(draw_plan(Plan(goal="g", tasks=make_plan(("a", "b")).tasks[:1])))


def test_an_outcome_shows_answer_proofs_and_plan_and_no_text_of_it_is_active() -> None:
    build_supervisor(make_team())  # registers what an extension adds

    page: Any = make_outcome()._repr_html_()  # type: ignore[attr-defined]  # set by the extension

    assert "<h1>Title</h1>" in page and "quoted" in page and "<svg" in page
    assert "<script" not in page and "<img" not in page and 'href="javascript' not in page


def test_a_graph_is_shown_without_a_web_service() -> None:
    graph: Any = build_supervisor(make_team())

    bundle = graph._repr_mimebundle_()

    assert set(bundle) == {"text/plain", "text/html"}
    assert "synthesizer" in bundle["text/html"]


def test_a_run_that_failed_shows_its_error_in_a_line() -> None:
    build_supervisor(make_team())
    failed: Any = Outcome(thread="t", status="failed", error=PackageMissing(f"x {EVIL}"))

    assert "error[PACKAGE_MISSING]" in failed._repr_html_()
    assert "<script" not in failed._repr_html_()


def test_a_frame_has_a_row_for_each_claim_and_for_each_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames = []

    class Frame(list[Any]):
        def __init__(self, rows: Any, columns: Any) -> None:
            super().__init__(rows)
            frames.append(columns)

        def keys(self) -> list[str]:
            return []

        def assign(self, **_: Any) -> "Frame":
            return self

    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=Frame))

    assert [row["proof"] for row in make_outcome().to_frame()] == ["quoted"]
    assert [row["task"] for row in make_outcome().to_frame("tasks")] == ["a"]
    assert "usage" not in frames[1] and "input_tokens" in frames[2]


def test_without_pandas_a_frame_is_refused_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = builtins.__import__

    def lose(name: str, *rest: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", lose)

    with pytest.raises(PackageMissing) as refused:
        make_outcome().to_frame()
    assert refused.value.next == "pip install pandas"


def test_progress_is_one_output_that_changes() -> None:
    shown: list[str] = []

    def display(content: Any, **_: Any) -> Any:
        return SimpleNamespace(update=lambda page, raw: shown.append(page["text/html"]))

    progress = CellProgress(display)
    progress({"kind": "request", "t": 0.0, "request": EVIL, "team": "trio"})
    progress.show(is_final=True)

    assert shown and "<script" not in "".join(shown)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_the_last_display_comes_in_any_case_and_its_error_replaces_nothing(
    monkeypatch: pytest.MonkeyPatch, is_async: bool, fails: bool
) -> None:
    shown = list[str]()

    def update(page: dict[str, str], raw: bool) -> None:
        shown.append(page["text/html"])
        raise RuntimeError("no display")

    handle = SimpleNamespace(update=update)
    display = SimpleNamespace(display=lambda *_, **__: handle)
    monkeypatch.setitem(sys.modules, "IPython.display", display)

    def run(on_event: Any = None) -> str:
        if fails:
            raise LookupError("of the run")
        return "answer"

    async def arun(on_event: Any = None) -> str:
        return run()

    def call() -> Any:
        return asyncio.run(add_progress(arun)()) if is_async else add_progress(run)()

    if fails:
        with pytest.raises(LookupError, match="of the run"):
            call()
    else:
        assert call() == "answer"
    assert len(shown) == 1
