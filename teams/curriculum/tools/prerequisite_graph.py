"""Order topics by their prerequisites, with levels and weeks."""

from .learning.course_plan import plan_course
from .learning.course_tool import build_course_tool

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

prerequisite_graph = build_course_tool("prerequisite_graph", plan_course)
