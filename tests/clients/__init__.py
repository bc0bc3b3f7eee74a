"""Record what real clients send, with a local model server in place of model services."""
