"""Puts the payment service together."""

import yaml
from gateway import Gateway


def build_gateway(path="production.yaml"):
    """Make the gateway that the settings describe."""
    with open(path, encoding="utf-8") as file:
        settings = yaml.safe_load(file)
    return Gateway(
        url=settings["gateway"]["url"],
        timeout_s=settings["gateway"]["timeout_s"],
    )
