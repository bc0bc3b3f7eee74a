"""Write evaluations, scores and notices in the formats of other systems."""
