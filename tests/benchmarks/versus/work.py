"""The task that all systems are given: four offers are read, costs computed, one is chosen.

Only the standard library is imported: the systems' processes read it in their own environments.
"""

from dataclasses import dataclass

MODEL = "gpt-5-mini"
REQUEST = "Which of the four offers for a pump is the cheapest, with freight?"
LEAD_S = 1.0
"""Of each call in which a model plans, delegates or answers."""
DOCUMENTS = {
    "north.md": "# Northline\n\nUnit price: 4,100 euros. Freight: 300 euros a pump.\n",
    "south.md": "# Sudwerk\n\nUnit price: 4,900 euros. Freight: 200 euros a pump.\n",
    "east.md": "# Eastwick\n\nUnit price: 4,700 euros. Freight: 100 euros a pump.\n",
    "west.md": "# Westerly\n\nUnit price: 5,200 euros. Freight: 150 euros a pump.\n",
}
WORKERS = {
    "reader": "Reads one offer and reports its price and freight, with the words of the offer.",
    "analyst": "Computes and compares costs from reports of others.",
}
INSTRUCTIONS = "Do the task in one report: what you found, and the words that prove it."
LEAD_INSTRUCTIONS = (
    "You lead a reader and an analyst. Delegate what does not wait for anything at the same time, "
    "give each the reports that it needs, and answer when all is there."
)


@dataclass(frozen=True)
class Part:
    """A part of the task, and what a worker's model says to it."""

    worker: str
    words: str
    seconds: float
    """Of the worker's model, spread evenly over its calls."""
    found: str
    needs: tuple[str, ...] = ()
    document: str = ""
    quotation: str = ""

    @property
    def turns(self) -> int:
        """Model calls: what reads an offer asks for it first."""
        return 2 if self.document else 1


def _read(name: str, company: str, price: str, freight: str, seconds: float) -> Part:
    return Part(
        worker="reader",
        words=f"Read {name}.md: what does {company} ask for a pump, and for freight?",
        seconds=seconds,
        found=f"{company} asks {price} euros a pump and {freight} euros for its freight",
        document=f"{name}.md",
        quotation=f"Unit price: {price} euros. Freight: {freight} euros a pump.",
    )


READING = {
    "read_north": _read("north", "Northline", "4,100", "300", 1.0),
    "read_south": _read("south", "Sudwerk", "4,900", "200", 3.0),
    "read_east": _read("east", "Eastwick", "4,700", "100", 2.0),
    "read_west": _read("west", "Westerly", "5,200", "150", 2.0),
}
WHOLE = {
    **READING,
    "cost_north": Part(
        "analyst",
        "Add price and freight of Northline.",
        3.0,
        "Northline costs 4,400 euros a pump, 4,100 and 300 together",
        ("read_north",),
    ),
    "cost_south": Part(
        "analyst",
        "Add price and freight of Sudwerk.",
        1.0,
        "Sudwerk costs 5,100 euros a pump, 4,900 and 200 together",
        ("read_south",),
    ),
    "choose": Part(
        "analyst",
        "Which of the four offers is the cheapest, with freight?",
        1.0,
        "Northline is the cheapest, at 4,400 euros a pump",
        ("cost_north", "cost_south", "read_east", "read_west"),
    ),
}
SHAPES = {"even": READING, "uneven": WHOLE}
"""`even`: four parts that do not wait for each other. `uneven`: all seven."""

FALSE_PRICE = "3,900"
LIES = {
    "read_south": ("4,900", FALSE_PRICE),
    "cost_south": ("5,100 euros a pump, 4,900", "4,100 euros a pump, 3,900"),
    "choose": ("Northline is the cheapest, at 4,400", "Sudwerk is the cheapest, at 4,100"),
}
"""By part, what becomes what when the reader of south.md lies about its price."""


def tell(name: str, words: str, *, lies: bool) -> str:
    """Return what a model says, true or not."""
    return words.replace(*LIES[name]) if lies and name in LIES else words


def write_report(name: str, *, lies: bool = False) -> str:
    """Return a report in one line, as every worker's model writes it, and as answers contain it."""
    part = WHOLE[name]
    proof = f"{part.document}: {part.quotation}" if part.document else ", ".join(part.needs)
    return tell(name, f"Report on {name}: {part.found} ({proof}) [end of {name}]", lies=lies)
