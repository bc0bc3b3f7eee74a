"""Count the cores that this process may use."""


def available_cores() -> int:
    """Return the number of cores by affinity and by the limit of the control group, at least 1."""
    import joblib  # Deferred: the import takes a tenth of a second of CPU.

    return int(joblib.cpu_count())
