"""The recovery ladder: a pure function of a task's history, and who may take a task over."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graph.teams.team_loader import load_team
from nodes.errors import TeamInvalid
from nodes.recovery.ladder import choose_action
from nodes.recovery.reassignment import list_candidates
from nodes.schemas.team import Worker
from state import Attempt, EscalationReason, Rung, Task, Tier
from tests.teams import make_team, write_team

LADDER: tuple[Rung, ...] = ("refine", "tier", "reassign", "human")
ABOVE: Mapping[Tier, Tier | None] = {"fast": "standard", "standard": "strong", "strong": None}


def make_failed_attempt(**fields: Any) -> Attempt:
    return Attempt(**{"description": "x", "error": "empty", "worker": "a", **fields})


def make_escalated_attempt(reason: EscalationReason, **fields: Any) -> Attempt:
    report = {"status": "escalated", "escalation": {"reason": reason, "message": "why"}}
    return Attempt(**{"description": "x", "report": report, "worker": "a", **fields})


def find_next_rung(attempts: Sequence[Attempt], **options: Any) -> Rung | None:
    given: dict[str, Any] = {
        "ladder": LADDER,
        "max_attempts": 9,
        "stronger": "strong",
        "others": {"b": "fast"},
        "may_split": False,
    }
    change = choose_action(attempts, **{**given, **options})
    return change.rung if change else None


def climb_ladder(
    make: Any, *, ladder: Sequence[Rung], max_attempts: int, others: Any
) -> list[Attempt]:
    """Climb as a task that never succeeds does."""
    attempts = [make(worker="a", tier="standard")]
    while change := choose_action(
        attempts,
        ladder=ladder,
        max_attempts=max_attempts,
        stronger=ABOVE[attempts[-1].tier],
        others=others,
        may_split=False,
    ):
        attempts.append(make(worker=change.worker, tier=change.tier, rung=change.rung))
        assert len(attempts) <= max_attempts, "the ladder has an end"
    return attempts


def test_a_task_that_always_fails_takes_each_rung_once_and_then_new_words_again() -> None:
    climbed = climb_ladder(
        make_failed_attempt, ladder=LADDER, max_attempts=7, others={"b": "standard"}
    )

    rungs = [attempt.rung for attempt in climbed]
    assert rungs == [None, "refine", "tier", "reassign", "human", "refine", "refine"]


def test_a_stronger_tier_keeps_the_worker_and_another_worker_brings_its_own_tier() -> None:
    climbed = climb_ladder(make_failed_attempt, ladder=LADDER, max_attempts=4, others={"b": "fast"})

    assert [(attempt.worker, attempt.tier) for attempt in climbed] == [
        ("a", "standard"),
        ("a", "standard"),
        ("a", "strong"),
        ("b", "fast"),
    ]


@pytest.mark.parametrize(
    ("reason", "rung"),
    [
        ("out_of_scope", "reassign"),
        ("ambiguous_input", "human"),
        ("confidence_too_low", "tier"),
        ("timeout", "refine"),
    ],
)
def test_each_escalation_has_its_remedy(reason: EscalationReason, rung: Rung) -> None:
    assert find_next_rung([make_escalated_attempt(reason)]) == rung


def test_an_ambiguous_task_is_tried_on_an_assumption_only_without_a_human_and_once() -> None:
    unclear = make_escalated_attempt("ambiguous_input")
    again = make_escalated_attempt("ambiguous_input", rung="assume")

    assert find_next_rung([unclear], ladder=("human", "assume")) == "human"
    assert find_next_rung([unclear], ladder=("refine", "assume")) == "assume"
    assert find_next_rung([unclear, again], ladder=("refine", "assume")) is None
    assert find_next_rung([make_failed_attempt()], ladder=("assume", "refine")) == "refine"


@pytest.mark.parametrize("is_rule_based", [False, True])
def test_what_stays_unclear_goes_to_the_fallback_after_a_human_and_an_assumption(
    is_rule_based: bool,
) -> None:
    ladder: tuple[Rung, ...] = ("reassign", "assume", "human")
    tried, climbed = [make_escalated_attempt("ambiguous_input")], list[Rung]()
    while rung := find_next_rung(tried, ladder=ladder, is_rule_based=is_rule_based):
        worker = "b" if rung == "reassign" else "a"
        tried.append(make_escalated_attempt("ambiguous_input", rung=rung, worker=worker))
        climbed.append(rung)

    assert climbed == ["human", *(["assume"] * (not is_rule_based)), "reassign"]
    assert find_next_rung(tried[:1], ladder=("reassign",), others={}) is None


def test_a_failing_task_climbs_all_rungs_with_the_default_settings() -> None:
    team = make_team()
    climbed = climb_ladder(
        make_failed_attempt,
        ladder=team.ladder,
        max_attempts=team.max_attempts,
        others={"b": "standard"},
    )

    assert [attempt.rung for attempt in climbed] == [None, "refine", "tier", "reassign"]


def test_without_a_stronger_model_and_another_worker_a_task_is_divided() -> None:
    tried = [make_failed_attempt(), make_failed_attempt(rung="refine")]
    ladder = make_team().ladder

    assert find_next_rung(tried, ladder=ladder, stronger=None, others={}, may_split=True) == "split"


def test_the_built_in_model_gets_new_words_once_and_no_parts() -> None:
    tried = [make_failed_attempt(), make_failed_attempt(rung="refine")]
    options: dict[str, Any] = {"stronger": None, "others": {}, "may_split": True}

    assert find_next_rung(tried, ladder=("refine", "split"), is_rule_based=True, **options) is None
    assert find_next_rung(tried[:1], ladder=("split", "refine"), is_rule_based=True, **options) == (
        "refine"
    )


def test_a_permanent_fault_gives_up_at_once() -> None:
    assert find_next_rung([make_failed_attempt(fault="permanent")]) is None


def test_a_rung_that_cannot_be_taken_is_passed_over() -> None:
    ladder: tuple[Rung, ...] = ("tier", "split", "reassign", "refine")

    assert (
        find_next_rung([make_failed_attempt()], ladder=ladder, stronger=None, others={}) == "refine"
    )


RUNGS = st.sampled_from(get_args(Rung))
HISTORY = st.lists(
    st.one_of(
        st.builds(
            make_failed_attempt,
            worker=st.sampled_from("abc"),
            tier=st.sampled_from(get_args(Tier)),
            fault=st.sampled_from([None, "content", "permanent"]),
            rung=st.one_of(st.none(), RUNGS),
        ),
        st.builds(
            make_escalated_attempt,
            st.sampled_from(get_args(EscalationReason)),
            worker=st.sampled_from("abc"),
            rung=st.one_of(st.none(), RUNGS),
        ),
    ),
    min_size=1,
    max_size=6,
)
OTHERS = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(get_args(Tier)))


@given(
    HISTORY,
    st.lists(RUNGS, unique=True),
    st.integers(1, 10),
    st.one_of(st.none(), st.sampled_from(get_args(Tier))),
    OTHERS,
    st.booleans(),
)
def test_whatever_happened_a_change_is_allowed_and_the_same_each_time(
    attempts: list[Attempt],
    ladder: list[Rung],
    max_attempts: int,
    stronger: Tier | None,
    others: dict[str, Tier],
    may_split: bool,
) -> None:
    before = [attempt.model_dump_json() for attempt in attempts], dict(others), list(ladder)

    changes = [
        choose_action(
            attempts,
            ladder=ladder,
            max_attempts=max_attempts,
            stronger=stronger,
            others=others,
            may_split=may_split,
        )
        for _ in range(2)
    ]

    after = [attempt.model_dump_json() for attempt in attempts], dict(others), list(ladder)
    assert changes[0] == changes[1] and before == after
    change = changes[0]
    if change is None:
        return
    assert len(attempts) < max_attempts and change.rung in ladder
    assert may_split or change.rung != "split"
    if change.rung == "reassign":
        assert change.worker not in {attempt.worker for attempt in attempts}
    else:
        assert change.worker == attempts[-1].worker
    if change.rung == "tier":
        assert change.tier == stronger


@given(
    st.sampled_from([make_failed_attempt, *get_args(EscalationReason)]),
    st.lists(RUNGS, unique=True),
    st.integers(1, 10),
    OTHERS,
)
def test_every_climb_ends_within_the_attempts(
    kind: Any, ladder: list[Rung], max_attempts: int, others: dict[str, Tier]
) -> None:
    def make(**fields: Any) -> Attempt:
        return (
            make_failed_attempt(**fields)
            if kind is make_failed_attempt
            else make_escalated_attempt(kind, **fields)
        )

    climbed = climb_ladder(make, ladder=ladder, max_attempts=max_attempts, others=others)

    workers = [attempt.worker for attempt in climbed if attempt.rung in (None, "reassign")]
    assert 1 <= len(climbed) <= max_attempts
    assert len(workers) == len(set(workers))


CREW = make_team().model_copy(
    update={
        "workers": (
            Worker(name="clerk", description="Files letters.", instructions="x"),
            Worker(name="analyst", description="Computes ratios of figures.", instructions="x"),
            Worker(name="drafter", description="Drafts memos.", instructions="x"),
        )
    }
)
RATIOS = Task(id="T1", description="Compute three ratios of the figures in q3.csv", worker="clerk")


def list_offered_workers(
    crew: Any, reason: EscalationReason | None = None, message: str = ""
) -> list[str]:
    clerk = crew.find_worker("clerk")
    return list(list_candidates(RATIOS, clerk, crew, reason=reason, message=message))


@pytest.mark.parametrize(
    ("asked", "others"), [((), ["analyst"]), (("ambiguous_input", "Ask the analyst."), [])]
)
def test_a_failed_task_goes_to_the_fallback_first_and_an_unclear_one_to_no_other(
    asked: tuple[Any, ...], others: list[str]
) -> None:
    clerk = CREW.workers[0].model_copy(update={"fallback": "drafter"})
    crew = CREW.model_copy(update={"workers": (clerk, *CREW.workers[1:])})

    assert list_offered_workers(CREW, *asked) == others
    assert list_offered_workers(crew, *asked) == ["drafter", *others]


def test_a_task_that_failed_does_not_go_to_a_worker_it_suits_less() -> None:
    ratios = RATIOS.model_copy(update={"worker": "analyst"})
    analyst = CREW.find_worker("analyst")

    assert not list_candidates(ratios, analyst, CREW)


def test_a_task_out_of_scope_goes_to_those_whose_card_it_fits() -> None:
    assert list_offered_workers(CREW, "out_of_scope") == ["analyst"]


def test_a_worker_that_is_named_goes_before_one_whose_card_fits() -> None:
    text = "Ask the drafter."

    assert list_offered_workers(CREW, "out_of_scope", text) == ["drafter", "analyst"]


def test_one_whose_card_fits_goes_before_the_generalist() -> None:
    crew = CREW.model_copy(update={"generalist": "drafter"})

    assert list_offered_workers(crew, "out_of_scope") == ["analyst", "drafter"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"generalist": "cook"}, "generalist 'cook' is no worker"),
        ({"ladder": ("jump",)}, "ladder"),
        ({"fallback": "cook"}, "fallback 'cook' of 'clerk' is no worker"),
        ({"fallback": "clerk"}, "its own fallback"),
    ],
)
def test_a_team_names_only_its_own_workers_and_known_rungs(
    fields: dict[str, Any], expected: str
) -> None:
    described = CREW.model_dump()
    described["workers"][0]["fallback"] = fields.pop("fallback", "")

    with pytest.raises(ValidationError, match=expected):
        type(CREW).model_validate(described | fields)


def write_team_folder(path: Path, *, team_key: str, worker_key: str) -> Path:
    keys = f"description: Counts fruit.\n{team_key}"
    counter, helper = (f"description: Counts.\n{key}" for key in (worker_key, ""))
    return write_team(path / "fruit", keys, counter=counter, helper=helper)


def test_a_team_folder_orders_the_rungs_and_names_fallback_and_generalist(tmp_path: Path) -> None:
    keys = "ladder: [tier, human]\ngeneralist: helper"

    read = load_team(write_team_folder(tmp_path, team_key=keys, worker_key="fallback: helper"))

    assert read.ladder == ("tier", "human")
    assert (read.generalist, read.find_worker("counter").fallback) == ("helper", "helper")


@pytest.mark.parametrize(
    ("team_key", "worker_key", "expected"),
    [
        ("ladder: [tier, jump]", "", "allowed: a list of refine, tier, reassign, split, human"),
        ("generalist: helpr", "", "did you mean 'helper'"),
        ("", "fallback: cook", "fallback 'cook' is not a worker"),
        ("", "fallback: counter", "its own fallback"),
        ("", "needs: [cook]", "needs 'cook' is not a worker"),
        ("", "needs: [counter]", "cannot need its own report"),
    ],
)
def test_a_name_or_rung_that_cannot_be_is_refused_with_its_file(
    tmp_path: Path, team_key: str, worker_key: str, expected: str
) -> None:
    with pytest.raises(TeamInvalid, match=r"fruit.*\.md") as refused:
        load_team(write_team_folder(tmp_path, team_key=team_key, worker_key=worker_key))

    assert expected in refused.value.format_line()
