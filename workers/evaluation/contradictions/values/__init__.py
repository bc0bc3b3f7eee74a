"""Find values that are given to the wrong case, row, year or side of a limit."""
