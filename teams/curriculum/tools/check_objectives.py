"""Check learning objectives against Bloom's taxonomy."""

from .learning.course_tool import build_course_tool
from .learning.objectives import check_objectives as check

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

check_objectives = build_course_tool("check_objectives", check)
