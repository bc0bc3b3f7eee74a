"""Comparing two runs of the same answers: figures, their uncertainty, gates and the report. Reads nothing itself."""
