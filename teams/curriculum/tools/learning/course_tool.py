"""What the course tools share: their parameters, and their call in a child process."""

from functools import partial
from typing import Annotated

from pydantic import Field

from nodes.tools.framework.argument_types import Format
from nodes.tools.framework.derived_tool import build_isolated_tool

MaterialName = Annotated[
    str,
    Format("file"),
    Field(description="Name of one material; empty for all that fit"),
]
ShortText = Annotated[str, Field(max_length=1000)]

build_course_tool = partial(
    build_isolated_tool,  # hostile text can keep a parser busy
    timeout_s=30.0,
    failure="the materials cannot be read: {}; name one of them, or hand over less",
)
