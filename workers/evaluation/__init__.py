"""Measuring judgements on labelled answers, and fitting what is calibrated on them."""
