"""The worker: agents, evaluation, delivery, stores and commands of Touchstone."""
