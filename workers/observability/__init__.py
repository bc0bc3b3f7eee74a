"""Log, count and trace what a process does."""
