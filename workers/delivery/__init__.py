"""Deliver records at least once: the only code that touches offsets, retries, dead letters and batches."""
