"""Serve the HTTP API and the pages."""
