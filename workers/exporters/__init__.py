"""What leaves for others: evaluations, scores and notices in their formats, and the requests that carry them."""
