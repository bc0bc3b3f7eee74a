"""Find personal data and secrets in text, and mask them. Pure functions."""
