"""What `--against` may name."""

import pytest

from extensions.evals.command import parse_baseline
from graph.settings import Settings
from nodes.errors import UsageError


def test_models_are_named_by_tier_or_by_setting():
    other = parse_baseline(["standard=openai:a", "model_fast=embedded"], "fruit", Settings())

    assert other.team == "fruit"
    assert other.settings.model_standard == "openai:a"
    assert other.settings.model_fast == "embedded"
    assert other.label == "standard=openai:a, model_fast=embedded"


def test_a_team_may_be_named_together_with_a_model():
    other = parse_baseline(["./prompts2", "strong=openai:a"], "fruit", Settings())

    assert (other.team, other.settings.model_strong) == ("./prompts2", "openai:a")


@pytest.mark.parametrize(
    ("against", "message"),
    [
        (["a", "b"], "names two teams, 'a' and 'b'"),
        (["model_standrd=openai:a"], "cannot change 'model_standrd'; did you mean"),
        (["temperature=1"], "cannot change 'temperature'"),
        (["standard="], "invalid model"),
        (["standard=gpt-5"], "invalid model"),
    ],
)
def test_anything_else_is_refused_in_a_line(against, message):
    with pytest.raises(UsageError, match=message):
        parse_baseline(against, "fruit", Settings())
