"""Query the review queue, decisions of reviewers and their agreement."""
