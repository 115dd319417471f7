"""Read a patient's conditions, allergies, encounters and immunizations, from a FHIR bundle."""

from .fhir.history import report_history
from .fhir.record_tool import build_record_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

read_bundle = build_record_tool("read_bundle", report_history)
