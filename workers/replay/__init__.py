"""What was, once more: reading topics up to now, and keeping them beyond their retention."""
