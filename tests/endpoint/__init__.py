"""The endpoint of `supervisor_worker.testing`, and what runs it in a process of its own."""

from supervisor_worker.testing.endpoint import (
    Call,
    Endpoint,
    Fault,
    ModelReply,
    Scenario,
    ScriptedTask,
    script_tasks,
)
from tests.endpoint.process import EndpointProcess, run_endpoint_process

__all__ = [
    "Call",
    "Endpoint",
    "EndpointProcess",
    "Fault",
    "ModelReply",
    "Scenario",
    "ScriptedTask",
    "run_endpoint_process",
    "script_tasks",
]
