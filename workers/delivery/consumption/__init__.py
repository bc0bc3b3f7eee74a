"""Fetch records, decompress them and keep their offsets until these may be committed."""
