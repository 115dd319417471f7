"""Sends the newsletter in batches."""

import os

BATCH_SIZE = int(os.environ["BATCH_SIZE"])


def batches(addresses):
    """Count the batches that all addresses take."""
    return -(-len(addresses) // BATCH_SIZE)


def progress(sent, addresses):
    """Give the share that was sent, as a percentage."""
    return 100 * sent / len(addresses)
