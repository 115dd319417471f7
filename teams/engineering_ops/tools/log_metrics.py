"""Report the metrics of an incident, from its logs."""

from nodes.tools.framework.derived_tool import build_isolated_tool

from .incident.metrics import compute_metrics

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

log_metrics = build_isolated_tool("log_metrics", compute_metrics)
