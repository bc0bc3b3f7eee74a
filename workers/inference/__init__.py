"""Inference: the embedding model behind micro-batches and a cache."""
