"""Render the pages of the console."""
