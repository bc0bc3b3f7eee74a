"""Orchestrate the evaluation of an answer: read, prepare, embed, evaluate, verify, report."""
