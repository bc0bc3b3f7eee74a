"""How many cores this process may use."""


def available_cores() -> int:
    """Cores by affinity and by the limit of the control group, at least 1."""
    import joblib  # a tenth of a second of CPU, which commands without a model need not spend

    return int(joblib.cpu_count())
