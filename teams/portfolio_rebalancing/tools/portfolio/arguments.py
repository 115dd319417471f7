"""Arguments that several portfolio tools take."""

from datetime import date
from typing import Annotated

from pydantic import Field

Percent = Annotated[float, Field(ge=0, le=100)]
Amount = Annotated[float, Field(ge=0, le=1e12)]
AsOf = Annotated[
    date | None,
    Field(description="Day to value at, by the last prices until then; by default the latest day"),
]
TargetWeightsPercent = Annotated[
    dict[str, Percent] | None,
    Field(
        max_length=200,
        description="Target weights in percent of the portfolio by ticker, CASH for cash; they "
        "sum to 100 and replace those of a table",
    ),
]
Ticker = Annotated[str, Field(max_length=15)]
Tickers = Annotated[tuple[Ticker, ...], Field(max_length=200)]
