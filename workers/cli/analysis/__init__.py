"""Provide the commands that evaluate, compare and explain answers."""
