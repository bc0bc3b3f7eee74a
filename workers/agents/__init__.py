"""The agents, one short file each: topic in, step, topic out. No logic, no offsets."""
