"""The metrics of an exam, from rows and what came of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.evals.command import keep_comparable
from extensions.evals.exam import ExamRow, is_found_in
from extensions.evals.metrics import (
    METRICS,
    PLAN_METRICS,
    RowResult,
    RowUsage,
    Score,
    list_edges,
    score_by_metrics,
    score_share,
)
from extensions.evals.scores import Evaluation, GradedRow
from graph.runs.outcome import Outcome
from nodes.errors import PlanInvalid
from state import Answer, Claim, Escalation, MergedFinding, Plan, Report, Task

NAMES = ("researcher", "analyst", "reviewer", "writer")
FOUND = MergedFinding(severity="high", message="The fee is missing", file="a.md", line=3)


def make_row(**expect: Any) -> ExamRow:
    return ExamRow.model_validate({"id": "r", "request": "What is it?", "expect": expect})


def make_plan(*tasks: tuple[str, str, tuple[str, ...]]) -> Plan:
    made = [Task(id=i, description="d", worker=w, depends_on=needs) for i, w, needs in tasks]
    return Plan(goal="g", tasks=tuple(made))


CHAIN = make_plan(("a", "researcher", ()), ("b", "researcher", ()), ("c", "analyst", ("a", "b")))


def make_result(*reports: Report, status: Any = "done", **answer: Any) -> RowResult:
    given = Answer(text="It grew by 18.5 percent (a.md).", **answer)
    results = {str(index): report for index, report in enumerate(reports)}
    outcome = Outcome(thread="t", status=status, answer=given, plan=CHAIN, results=results)
    return RowResult(plan=CHAIN, outcome=outcome, materials={"a.md": "It grew\nby 18.5 percent."})


def compute_values(row: ExamRow, trial: RowResult, **more: Any) -> dict[str, float]:
    return {name: score.value for name, score in score_by_metrics(row, trial, **more).items()}


def test_a_plan_is_held_to_the_expected_workers_and_edges():
    asked = make_row(
        workers=["analyst", "writer"], edges=[["researcher", "analyst"], ["analyst", "writer"]]
    )

    scores = score_by_metrics(asked, RowResult(plan=CHAIN))

    assert {name: score.value for name, score in scores.items()} == {
        "routing": 0,
        "edge_recall": 0.5,
        "valid_plan": 1,
        "valid_at_once": 1,
        "worker_recall": 0.5,
        "worker_precision": 0.5,
        "edge_precision": 1,
    }
    assert scores["routing"].comment == "without writer"
    assert scores["edge_recall"].comment == "no edge analyst → writer"


def test_more_workers_than_expected_are_wrong_only_where_a_team_routes():
    asked = make_row(workers=["analyst"])

    assert compute_values(asked, RowResult(plan=CHAIN))["routing"] == 1
    assert compute_values(asked, RowResult(plan=CHAIN), strategy="route")["routing"] == 0


def test_a_plan_that_took_repairs_was_not_valid_at_once():
    tally = RowUsage()
    for kind in ("plan_rejected", "plan_created", "plan_rejected"):
        tally.count_event({"kind": kind})

    scores = score_by_metrics(make_row(workers=["analyst"]), RowResult(plan=CHAIN, usage=tally))

    assert (scores["valid_plan"].value, scores["valid_at_once"].value) == (1, 0)
    assert scores["valid_at_once"].comment == "1 rejected"


def test_a_plan_by_rule_earns_the_planners_model_nothing():
    by_rule = CHAIN.model_copy(update={"rule_reason": "no valid one came"})

    asked = make_row(workers=["analyst"], edges=[("researcher", "analyst")])
    scores = score_by_metrics(asked, RowResult(plan=by_rule))

    for name in ("valid_plan", "routing", "edge_recall"):
        assert (scores[name].value, scores[name].comment) == (0, "the plan was made by rule")


def test_without_a_plan_nothing_that_was_expected_is_met():
    trial = RowResult(error=PlanInvalid("no valid plan after 2 repairs"))

    scores = score_by_metrics(make_row(workers=["analyst"], facts=["18.5"]), trial)

    assert not any(score.value for score in scores.values())
    assert scores["completed"].comment == "no valid plan after 2 repairs"


def test_facts_and_sources_and_findings_must_be_in_the_answer():
    asked = make_row(
        facts=["18.5 percent", "19 percent", "fee is missing"],
        sources=["a.md", "b.md"],
        findings=[
            {"message": "FEE is missing"},
            {"file": "a.md", "line": 3, "severity": "high"},
            {"file": "a.md", "line": 4},
        ],
    )

    found = compute_values(asked, make_result(sources=("a.md",), findings=(FOUND,)))

    assert found["facts"] == pytest.approx(2 / 3)
    assert found["sources"] == 0.5
    assert found["findings"] == pytest.approx(2 / 3)
    assert found["completed"] == 1


def test_a_citation_must_exist_and_a_claim_be_proved():
    claims = (
        Claim(text="It grew.", source="a.md", quotation="it grew", proof="quoted"),
        Claim(text="It fell.", source="a.md", quotation="it fell", proof="unproved"),
        Claim(text="From a tool.", source="query_database"),
    )
    trial = make_result(Report(claims=claims), sources=("a.md", "query_database", "invented.md"))

    score = score_by_metrics(make_row(facts=["18.5"]), trial)["citations"]

    assert score.value == pytest.approx(3 / 5)
    assert score.comment == "not valid: a.md, invented.md"


@pytest.mark.parametrize(
    ("expect", "reason", "status", "value"),
    [
        ({"escalation": "out_of_scope"}, "out_of_scope", "partial", 1),
        ({"escalation": "out_of_scope"}, "ambiguous_input", "partial", 0),
        ({"escalation": "out_of_scope"}, None, "done", 0),
        ({"escalation": "out_of_scope", "status": "partial"}, "out_of_scope", "done", 0),
        ({"status": "partial"}, None, "partial", 1),
        ({"status": "partial"}, None, "failed", 1),
        ({"status": "failed"}, None, "done", 0),
    ],
)
def test_a_request_not_to_be_answered_must_be_escalated_or_end_as_expected(
    expect, reason, status, value
):
    handed_back = Escalation(reason=reason, message="m") if reason else None
    report = Report(status="escalated" if reason else "completed", escalation=handed_back)

    scores = compute_values(make_row(**expect), make_result(report, status=status))

    assert scores["refused"] == value
    assert "completed" not in scores and "citations" not in scores


@pytest.mark.parametrize(
    ("expect", "value"),
    [({"facts": ["18"]}, 1), ({"status": "done"}, 0), ({"status": "passages"}, 1)],
)
def test_passages_lack_nothing_but_are_less_than_done(expect, value):
    scores = compute_values(make_row(**expect), make_result(Report(), status="passages"))

    assert scores["completed"] == value and "refused" not in scores


def test_a_request_that_must_fail_needs_no_plan():
    scores = compute_values(make_row(status="failed"), RowResult(error=PlanInvalid("no plan")))

    assert scores == {"refused": 1}


def test_parallel_work_found_is_the_critical_path_over_the_wall_time():
    trial = make_result()
    assert trial.outcome is not None
    trial.outcome.timing.update(critical_path_s=2.0, wall_s=2.5, speedup=1.2)

    assert compute_values(make_row(facts=["18.5"]), trial)["parallelism"] == 0.8


def test_a_run_that_waited_for_nothing_outside_has_no_parallel_work_to_score():
    trial = make_result()
    assert trial.outcome is not None
    trial.outcome.timing.update(critical_path_s=2.0, wall_s=2.5, speedup=None)

    assert "parallelism" not in compute_values(make_row(facts=["18.5"]), trial)


def test_a_row_counts_its_mean_and_an_exam_the_mean_of_its_rows():
    good = GradedRow(
        make_row(workers=["analyst"]), RowResult(), {"routing": Score(1), "edge_recall": Score(0)}
    )
    poor = GradedRow(make_row(facts=["x"]), RowResult(), {"facts": Score(0.0, "not there: x")})

    evaluation = Evaluation(team="t", models={}, rows=[good, poor])

    assert evaluation.score == 25
    assert evaluation.average_metric("facts") == 0 and evaluation.average_metric("sources") is None
    assert poor.complaints == ["facts: not there: x"]


def test_informational_metrics_do_not_change_the_score():
    result = {name: Score(0.0) for name, metric in METRICS.items() if not metric.is_counted}

    graded = GradedRow(make_row(workers=["analyst"]), RowResult(), {"routing": Score(1), **result})

    assert graded.score == 100 and not graded.complaints


def test_a_cost_that_is_not_known_once_is_not_known_at_all():
    known, unknown = RowUsage(), RowUsage()
    known.count_event({"kind": "model_call", "cost_usd": 0.5, "input_tokens": 3})
    unknown.count_event({"kind": "model_call", "cost_usd": None})
    rows = [GradedRow(make_row(facts=["x"]), RowResult(usage=one), {}) for one in (known, unknown)]

    spent = Evaluation(team="t", models={}, rows=rows).sum_usage()

    assert (spent["calls"], spent["input_tokens"], spent["cost_usd"]) == (2, 3, None)


@given(st.lists(st.text(), unique=True, min_size=1), st.sets(st.text()))
def test_a_share_is_what_is_met_of_what_is_wanted(wanted, held):
    score = score_share(wanted, held.__contains__, "without")

    assert score is not None
    assert score.value == pytest.approx(len(set(wanted) & held) / len(wanted))
    assert bool(score.comment) == (score.value < 1)


WORKERS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=6)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    workers = draw(WORKERS)
    made = []
    for index, worker in enumerate(workers):
        needs = draw(st.sets(st.sampled_from(range(index)))) if index else set()
        made.append((f"t{index}", worker, tuple(f"t{need}" for need in sorted(needs))))
    return make_plan(*made)


@given(plans(), WORKERS, st.lists(st.tuples(*[st.sampled_from(NAMES)] * 2)))
def test_every_score_lies_between_nothing_and_all(made, workers, edges):
    scores = score_by_metrics(make_row(workers=workers, edges=edges), RowResult(plan=made))

    assert all(0 <= score.value <= 1 for score in scores.values())
    assert (scores["routing"].value == 1) == (scores["worker_recall"].value == 1)


@given(plans())
def test_a_plan_meets_an_exam_that_was_written_from_it(made):
    workers = sorted({task.worker for task in made.tasks})

    scores = score_by_metrics(
        make_row(workers=workers, edges=sorted(list_edges(made))), RowResult(plan=made)
    )

    assert {score.value for score in scores.values()} == {1}


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("18.5 percent", "Revenue grew by 18.5  Percent."),
        ("47.3 %", "| Amazon | 47.3% |"),
        ("47.3%", "47.3\N{NO-BREAK SPACE}%"),
        ("1234", "1 234 units"),
        ("MARKET share", "market\nshares"),
        ("/18\\.[56]/", "It is 18.6."),
        ("/^total: \\d+$/", "TOTAL: 12"),
        ("a+b", "a + b = c"),
        ("12", "(12)"),
        ("12.5", "12.5."),
    ],
)
def test_a_fact_is_found_however_it_is_spaced(fact, text):
    assert is_found_in(fact, text)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("12 percent", "112 percent"),
        ("12 percent", "3.12 percent"),
        ("47.3", "47.35"),
        ("1,200", "1,200,000"),
        ("12", "12.5"),
        ("18.5 percent", "It grew by 18.5."),
        ("a+b", "aab"),
    ],
)
def test_a_fact_is_not_found_in_another_figure_or_other_words(fact, text):
    assert not is_found_in(fact, text)


@given(
    before=st.text(alphabet=st.characters(categories=["L", "P", "Z"], exclude_characters=".,")),
    fact=st.text(min_size=1).filter(lambda text: text.strip() and "/" not in text),
    after=st.text(alphabet=st.characters(categories=["L", "Z"])),
)
def test_whatever_stands_in_a_text_is_found_in_it(before, fact, after):
    assert is_found_in(fact, f"{before} {fact} {after}")


@given(st.text(alphabet="abc 12.", min_size=1).filter(str.strip), st.sampled_from(" \n\t"))
def test_spaces_neither_help_nor_hinder(fact, space):
    assert is_found_in(fact, space.join(fact))
    assert is_found_in(space.join(fact), fact)


def test_an_evaluation_of_answers_has_neither_rows_nor_metrics_of_plans():
    planned = GradedRow(make_row(workers=["analyst"]), RowResult(plan=CHAIN), {})
    row, trial = make_row(workers=["analyst"], facts=["18.5 percent"]), make_result()
    answered = GradedRow(row, trial, score_by_metrics(row, trial))
    whole = Evaluation(team="t", models={}, rows=[planned, answered])

    kept = whole.keep_answers()

    assert [[*each.scores] for each in kept.rows] == [["facts", "completed"]]
    assert kept.is_of_answers and kept.keep_answers() == kept
    assert keep_comparable(whole, kept) == (kept, kept)
    assert keep_comparable(whole, whole) == (whole, whole)


def test_only_the_metrics_of_plans_are_left_out():
    assert {*METRICS} > PLAN_METRICS
    assert not PLAN_METRICS & {"facts", "sources", "citations", "findings", "completed", "refused"}
