"""Run the periodic tasks of the one elected worker."""
