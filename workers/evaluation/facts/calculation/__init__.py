"""Derive numbers from numbers: sums, rates, time spans and calculations that a text names or writes out."""
