"""Decide on answers by policy, mitigation, formatting, release and final states; all functions are pure."""
