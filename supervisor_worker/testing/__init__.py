"""What tests of a team need: a scripted model, an endpoint that breaks, and the exam."""

from supervisor_worker.testing.endpoint import (
    Call,
    Endpoint,
    Fault,
    ModelReply,
    Scenario,
    ScriptedTask,
    script_tasks,
)
from supervisor_worker.testing.fake_models import FakeCall, FakeChatModel
from supervisor_worker.testing.teams import assert_team_passes

__all__ = [
    "Call",
    "Endpoint",
    "FakeCall",
    "FakeChatModel",
    "Fault",
    "ModelReply",
    "Scenario",
    "ScriptedTask",
    "assert_team_passes",
    "script_tasks",
]
