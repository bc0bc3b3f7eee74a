"""Provide the commands on what is stored: archives, backups, rebuilds, dead letters, erasure and topics."""
