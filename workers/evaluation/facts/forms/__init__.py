"""Write numbers, times of day, periods and shares in one form each, so that they can be read and compared."""
