"""Measures how many planted faults of reports and answers a checker finds, and its false alarms."""
