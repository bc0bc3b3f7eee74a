"""Provide the commands that run and administer a deployment."""
