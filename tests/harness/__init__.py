"""Real processes, real topics and one oracle: what the e2e and chaos tests are made of."""
