"""Serve the pages for auditors."""
