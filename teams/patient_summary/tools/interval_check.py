"""Find dates of a FHIR bundle that cannot be right, or conflict."""

from .fhir.intervals import report_intervals
from .fhir.record_tool import build_record_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

interval_check = build_record_tool("interval_check", report_intervals)
