"""Store short-lived data in Redis."""
