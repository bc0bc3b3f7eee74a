"""Human review: the queue as reviewers see it, locks, and decisions until they are published."""
