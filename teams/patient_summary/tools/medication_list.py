"""List what a patient takes and took, from a FHIR bundle."""

from .fhir.medicines import report_medicines
from .fhir.record_tool import build_record_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

medication_list = build_record_tool("medication_list", report_medicines)
