"""How many cores this process may use."""

import joblib


def available_cores() -> int:
    """Cores by affinity and by the limit of the control group, at least 1."""
    return int(joblib.cpu_count())
