"""Find and resolve the citations of an answer."""
