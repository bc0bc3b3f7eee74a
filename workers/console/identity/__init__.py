"""Identify callers and log which answers they read."""
