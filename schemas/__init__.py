"""Define the contracts of Touchstone: one pydantic model per event and the registry of topics.

This package imports nothing of ``workers``: producers and consumers outside the
worker can depend on it alone.
"""
