"""Touchstone plug-in: an evaluator of reading ease, and an exporter of scores to files."""
