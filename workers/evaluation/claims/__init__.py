"""Extract the claims of an answer."""
