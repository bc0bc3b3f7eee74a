"""Evaluate one answer synchronously, for a caller that waits."""
