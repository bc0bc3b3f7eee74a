"""Adapters from foreign formats to GeneratedAnswer; each a pure function."""
