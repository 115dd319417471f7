"""Measure the reading grade of course materials against a target."""

from .learning.course_tool import build_course_tool
from .learning.difficulty import measure_difficulty

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

readability = build_course_tool("readability", measure_difficulty)
