"""The shipped teams as graphs, for `langgraph.json`. Only LangGraph's server imports this."""

from graph.supervisor import build_supervisor

market_analysis = build_supervisor("market_analysis")
