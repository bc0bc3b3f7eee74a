"""Provide the commands that read and write answers of other formats."""
