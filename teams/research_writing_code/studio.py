"""The team's graph, for `langgraph.json`."""

from pathlib import Path

from graph.studio import build_team_graph

graph = build_team_graph(Path(__file__).parent)
