"""Faults against real processes, and one oracle that says whether the promise was kept."""
