"""Fit the calibration and the mapping of the risk on labelled answers, and measure the worth of each part."""
