"""The error of an analysis whose materials are not sufficient."""


class InsufficientMaterials(Exception):
    """The materials do not have what was asked for; the message names what is needed."""
