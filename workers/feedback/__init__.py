"""Compute rewards, posteriors and insights from feedback with pure functions."""
