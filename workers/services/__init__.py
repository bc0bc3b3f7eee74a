"""Open the stores, models and clients that agents, console and commands use."""
