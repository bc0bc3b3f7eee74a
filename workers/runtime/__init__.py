"""Run agents in one process: application, health, watchdog."""
