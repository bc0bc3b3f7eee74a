"""Follow compacted topics in memory: erasures and released answers."""
