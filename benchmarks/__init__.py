"""Measure performance as ratios within one run; no test asserts these figures."""
