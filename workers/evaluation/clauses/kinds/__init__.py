"""Compare kinds of statements that have rules of their own: charges, limits, frequencies, permissions, lists."""
