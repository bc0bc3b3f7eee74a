"""Keep the order of the review queue, and who holds which request."""
