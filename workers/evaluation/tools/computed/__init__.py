"""Compute the figures that claims name by an operation over rows of results."""
