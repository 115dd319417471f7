"""The error of an analysis whose materials are not sufficient."""

from nodes.errors import ToolRefused


class InsufficientMaterials(ToolRefused):
    """The materials do not have what was asked for; the message names what is needed."""
