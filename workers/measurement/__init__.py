"""Measure evaluations on labelled answers, and fit the calibration."""
