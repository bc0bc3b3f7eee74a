"""Compare two runs of the same answers: figures, uncertainty, gates and report."""
