"""Evaluate answers with pure functions: text in, findings out. No I/O, no clock, no randomness."""
