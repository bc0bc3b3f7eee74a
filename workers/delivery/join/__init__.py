"""Join an answer with its reports."""
