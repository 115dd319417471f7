"""Servers of other providers' protocols, written from their documentation."""
