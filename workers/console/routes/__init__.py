"""The routes of the console, one file for each subject."""
