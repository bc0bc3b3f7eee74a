"""Compare the clock of a server with that of this machine."""

from workers.doctor.findings import Finding, ok, warning

MAX_DIFFERENCE_SECONDS = 2.0
"""Difference above which deadlines of reviews, ages of answers and hours of figures are visibly wrong."""


def compare_clocks(check: str, before: float, server: float, after: float) -> Finding:
    """Compare clocks. The time that the question took is no difference.

    Args:
        check: name of the check.
        before: time here when the server was asked, seconds since 1970.
        server: time that the server answered.
        after: time here when the answer arrived.
    """
    difference = max(before - server, server - after, 0.0)
    if difference <= MAX_DIFFERENCE_SECONDS:
        return ok(check, f"the clocks differ by less than {MAX_DIFFERENCE_SECONDS:g} s")
    direction = "behind" if server < before else "ahead of"
    return warning(
        check,
        f"the server's clock is {difference:.0f} s {direction} that of this machine",
        "synchronise both clocks (NTP)",
    )
