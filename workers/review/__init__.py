"""Serve the review queue: requests, locks, decisions."""
