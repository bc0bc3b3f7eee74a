"""Judging one answer now, for who waits: a gateway's guardrail call."""
