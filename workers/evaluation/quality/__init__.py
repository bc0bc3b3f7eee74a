"""Score the quality of an answer and find its failure signals."""
