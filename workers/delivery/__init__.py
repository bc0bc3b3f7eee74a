"""Delivery: the only code that touches offsets, retries, dead letters and batches.

At least once, effectively once: an input is acknowledged after all its outputs are
confirmed, offsets never pass the smallest unacknowledged one, and every output carries a
deterministic identifier. ``docs/ARCHITECTURE.md`` tells the rules and their reasons.
"""
