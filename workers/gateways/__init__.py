"""Adapt foreign formats to ``GeneratedAnswer`` with pure functions."""
