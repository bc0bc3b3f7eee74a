"""The worker: agents, steps, delivery, stores and commands of Touchstone."""
