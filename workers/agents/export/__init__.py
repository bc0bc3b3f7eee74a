"""Define the agents that send results to other systems."""
