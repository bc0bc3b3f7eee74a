"""Run the agents of a worker in one or more processes: application, health, watchdog."""
