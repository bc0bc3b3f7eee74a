"""Handle records that fail: attempts, isolation, dead letters, circuit breaker."""
