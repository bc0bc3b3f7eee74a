"""Read the parts that formats of gateways share: envelopes, contexts, names and calls of tools."""
