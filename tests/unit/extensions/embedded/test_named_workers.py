"""A reason for rejecting a plan names who is to work, in many orders of words."""

import pytest

from extensions.embedded.named_workers import choose_workers
from nodes.models.rule_model import get_rule_model
from state import Plan
from tests.unit.extensions.embedded.embedded_runs import make_team

TEAM = make_team({"researcher": "Reads.", "analyst": "Counts.", "reviewer": "Checks."})
PLANNED = [worker.name for worker in TEAM.roster]
PLAN = Plan.model_validate(
    {"goal": "Count", "tasks": [{"id": n, "description": "Do.", "worker": n} for n in PLANNED]}
)
LEFT = {
    "analyst": """
        no reviewer please, only the analyst
        no reviewer, please; use only the analyst
        only the analyst, no reviewer
        Use the analyst alone
        the analyst alone, no reviewer
        no reviewer and no researcher
        neither the reviewer nor the researcher
        no reviewer or researcher
        no reviewer, no researcher
        without the reviewer, just analyst
        no reviewer use only the analyst
        no reviewer but only the analyst
        no reviewer only the analyst
        skip the reviewer and the researcher
        instead of the reviewer use only the analyst
        only the analyst instead of the reviewer
        analyst only
        analyst only please
        just the analyst please, not the reviewer
        nobody but the analyst
        the analyst and nobody else
        use the analyst, nobody else
        use the analyst, no one else please
        why is the reviewer in it? only the analyst
        The reviewer did not help last time, only the analyst please
        I want the analyst to work alone
        nur den Analysten
        nur der analyst, kein reviewer
        kein reviewer bitte, nur der analyst
        keinen reviewer, nur den analyst
        keinen Reviewer bitte nur den Analysten
        ohne den Reviewer, nur mit dem Analyst
        bitte ohne den reviewer und den researcher
        ohne reviewer und ohne researcher
        weder reviewer noch researcher
        den reviewer bitte weglassen, nur analyst
        nicht den reviewer, sondern nur den analyst
        statt des reviewers nur den analyst
        anstelle des Reviewers bitte nur den Analysten
        der analyst allein
        allein der analyst, bitte
        der analyst soll das allein machen
        niemand außer dem analyst
        nimm nur den analyst und lass den reviewer weg
        nimm den analyst, sonst niemanden
        reviewer raus, nur analyst
        kein reviewer, lieber den analyst allein
        nein, nur der analyst
        no reviewer - only the analyst
        no reviewer: the analyst alone
        I would rather have only the analyst than the reviewer
        only analyst no reviewer
        just analyst
        use the analyst, only one task
    """,
    "researcher": """
        Bitte nur den Researcher nehmen
        Bitte den Analysten weglassen und nur den Researcher nehmen
        Kein Analyst, kein Reviewer
    """,
    "researcher analyst": """
        Leave out the reviewer
        leave the reviewer out
        leave the reviewer out, please
        don't use the reviewer
        do not use the reviewer
        Please don't let the reviewer look at it
        I don't think we need the reviewer
        the reviewer is not needed
        The reviewer isn't needed here.
        reviewer: not needed
        reviewer: no, analyst: yes
        analyst yes reviewer no
        analyst yes, reviewer no
        reviewer no, analyst yes
        remove the reviewer
        drop the reviewer; keep the analyst
        drop the reviewer but keep the analyst
        drop the reviewer keep the analyst
        use the analyst and not the reviewer
        use the analyst instead of the reviewer
        just drop the reviewer
        no one except the analyst and the researcher
        all but the reviewer
        everyone except the reviewer
        any worker but the reviewer
        only the analyst, the researcher
        only the analyst, and the researcher too
        only analyst and researcher
        only researcher, then analyst
        I want the analyst without the reviewer
        ohne reviewer
        lass den reviewer weg
        den reviewer weglassen
        der reviewer ist nicht nötig
        den reviewer brauchen wir nicht
        den reviewer nicht verwenden
        der reviewer wird nicht gebraucht
        nicht der reviewer, sondern der analyst
        alle außer dem reviewer
        alle bis auf den reviewer
        ich will keinen reviewer
        ich möchte den reviewer nicht
        der reviewer soll raus
        streiche den reviewer
        den reviewer streichen
        verzichte auf den reviewer
        lieber ohne reviewer, aber mit analyst
        Nein. Kein Reviewer.
        the analyst is enough, no reviewer
        not the reviewer, but the analyst
        no Reviewers!
        We can do without the reviewer
        nur der Analyst und der Researcher, ohne Reviewer
        everything is fine but drop the reviewer
        Everything fine, except the reviewer
        too many tasks: only the researcher and the analyst
        no need for the reviewer
        there is no need to have a reviewer
        drop the reviewer, add the researcher
        the analyst rather than the reviewer
    """,
    "analyst reviewer": """
        no researcher; reviewer after analyst
    """,
    "researcher reviewer": """
        Ohne den Analysten; der Rest ist gut
    """,
}
"""Who is left, and reasons that say so."""
UNCLEAR = """
    not only the analyst
    don't use only the analyst
    do not drop the reviewer
    don't leave the reviewer out
    never skip the reviewer
    make it shorter
    no, make it shorter
    the reviewer only at the end
    the reviewer only if needed
    ask the analyst first
    no reviewer, analyst and researcher please
    without the analyst, the reviewer and the researcher
    no reviewer, no analyst, no researcher
    den reviewer nicht weglassen
    nicht nur der analyst
    bitte kürzer
    füge den researcher hinzu
    auch den researcher bitte
    the analyst should figure it out
    The analyst is enough
    no reviewer and the analyst only
    Only one task
    no reviewer, only one task
    the reviewer costs too much
    the reviewer costs too much, leave it out
    without the reviewer, also the researcher
"""


def _list_lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


@pytest.mark.parametrize(
    ("reason", "left"), [(reason, left) for left in LEFT for reason in _list_lines(LEFT[left])]
)
def test_a_denial_belongs_to_its_clause(reason: str, left: str) -> None:
    chosen = choose_workers(TEAM, PLANNED, reason)

    assert sorted(chosen, key=PLANNED.index) == left.split()
    assert get_rule_model().can_use_reason(TEAM, PLAN, reason)


@pytest.mark.parametrize("reason", ["", *_list_lines(UNCLEAR)])
def test_a_reason_that_leaves_nobody_or_everybody_cannot_be_used(reason: str) -> None:
    assert not get_rule_model().can_use_reason(TEAM, PLAN, reason)
