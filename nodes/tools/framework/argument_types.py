"""Types for the arguments of tools, which say in the JSON schema what a text names."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import AliasChoices, BaseModel, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from nodes.tools.framework.tool_report import Severity


@dataclass(frozen=True)
class Format:
    """A `format` in a parameter's JSON schema.

    LangChain copies a parameter's metadata into the tool's schema, but no `json_schema_extra`.
    """

    name: str

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema with the format."""
        return {**handler(schema), "format": self.name}


FileName = Annotated[str, Format("file")]
"""The name of a material."""
Table = Annotated[str, Format("table")]
"""The name of a table: a material, or a table of the database."""
Column = Annotated[str, Format("column")]
"""The name of a column of a table."""
NumberColumn = Annotated[str, Format("number_column")]
PerColumn = Annotated[str, Format("per_column")]
"""A column of numbers that others are divided by."""
LabelColumn = Annotated[str, Format("label_column")]
TimeColumn = Annotated[str, Format("time_column")]
Cell = Annotated[str, Format("cell")]
"""A value that a row of a table holds."""
Day = Annotated[str, Format("date")]
"""A day as YYYY-MM-DD."""
Identifier = Annotated[str, Format("identifier")]
"""A name of code: a function, a class, a setting."""
Query = Annotated[str, Format("query")]
"""Words to search for."""
Text = Annotated[str, Format("text")]
"""The words of the request themselves, such as a pasted log."""


class CitedClaim(BaseModel):
    """A claim with what it rests on."""

    text: str = Field(min_length=1, max_length=4000)
    source: str = Field("", max_length=1000)
    """Name of a material or document, as the worker cites it."""
    quotation: str = Field("", max_length=8000, validation_alias=AliasChoices("quotation", "quote"))
    """Words of the source that support the claim."""


class ReportedFinding(BaseModel):
    """A finding of an earlier report."""

    severity: Severity
    message: str = Field(min_length=1, max_length=4000)
    file: str = Field("", max_length=1000)
    line: int | None = Field(None, ge=1)
    suggestion: str = Field("", max_length=4000)
    confidence: int = Field(80, ge=0, le=100)


class UnratedFinding(ReportedFinding):
    """A finding of an earlier report that may have no severity, where the tool needs none."""

    severity: Severity = "info"
