"""Restore a store from topics or an archive, and verify it."""
