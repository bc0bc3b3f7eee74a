"""Define the agents, one short file each: topic in, evaluate, topic out. No logic and no offsets."""
