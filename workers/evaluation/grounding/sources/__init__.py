"""Choose the evidence that a claim is compared with: contexts, tools, earlier turns, and what conflicts."""
