"""The commands of ``touchstone``, one file for each family."""
