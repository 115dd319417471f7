"""An OpenAI-compatible endpoint: answers by schema name, breaks on request, keeps records."""

from tests.endpoint.faults import Fault
from tests.endpoint.process import EndpointProcess, run_endpoint_process
from tests.endpoint.records import Call
from tests.endpoint.scenario import Scenario, ScriptedTask, script_tasks
from tests.endpoint.scripted_model import ModelReply
from tests.endpoint.server import Endpoint

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
