"""The graph of a team that plans up to a hundred tasks, for measuring."""

from graph.settings import Settings
from graph.supervisor import build_supervisor
from tests.teams import make_team

graph = build_supervisor(make_team(), settings=Settings())
