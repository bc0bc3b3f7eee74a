"""Provide the commands of ``touchstone``: parse, call, print."""
