"""Score how well the evidence supports each claim."""
