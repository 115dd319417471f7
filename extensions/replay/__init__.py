"""Runs a kept run again without a model; what-if; cases for exams; the shipped record."""
