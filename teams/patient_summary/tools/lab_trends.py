"""Report laboratory values and vital signs over time, from a FHIR bundle."""

from .fhir.record_tool import build_record_tool
from .fhir.trends import report_trends

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

lab_trends = build_record_tool("lab_trends", report_trends)
