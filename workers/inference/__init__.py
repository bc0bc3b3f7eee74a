"""Run the embedding model and the verifier with micro-batches."""
