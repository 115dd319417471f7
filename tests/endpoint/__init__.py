"""An OpenAI-compatible endpoint: answers by schema name, breaks on request, keeps records."""

from tests.endpoint.answers import Said
from tests.endpoint.faults import Fault
from tests.endpoint.process import EndpointProcess, endpoint_process
from tests.endpoint.records import Call
from tests.endpoint.scenario import Scenario, ScriptedTask, dag
from tests.endpoint.server import Endpoint

__all__ = [
    "Call",
    "Endpoint",
    "EndpointProcess",
    "Fault",
    "Said",
    "Scenario",
    "ScriptedTask",
    "dag",
    "endpoint_process",
]
