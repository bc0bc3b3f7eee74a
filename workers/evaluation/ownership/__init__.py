"""Compare whose value a claim states with whose value it is in the evidence."""
