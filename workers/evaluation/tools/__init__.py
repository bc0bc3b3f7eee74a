"""Check claims against the results and the arguments of tools."""
