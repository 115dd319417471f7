"""Rates over several processes, measured at an endpoint that counts."""
