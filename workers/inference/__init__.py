"""Inference: the embedding model and the verifier, each behind micro-batches and a cache."""
