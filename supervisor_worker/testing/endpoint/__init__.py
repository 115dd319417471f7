"""An OpenAI-compatible endpoint: answers by schema name, breaks on request, keeps records."""

from supervisor_worker.testing.endpoint.faults import Fault
from supervisor_worker.testing.endpoint.records import Call
from supervisor_worker.testing.endpoint.scenario import Scenario, ScriptedTask, script_tasks
from supervisor_worker.testing.endpoint.scripted_model import ModelReply
from supervisor_worker.testing.endpoint.server import Endpoint

__all__ = ["Call", "Endpoint", "Fault", "ModelReply", "Scenario", "ScriptedTask", "script_tasks"]
