"""Count the rows behind a page."""


def agreeing_total(counted: int, shown: int, *, first: bool, more: bool) -> int:
    """Return the number of rows that match, in agreement with a page of them.

    Rows arrive between the query of the page and that of the count. A first page that no other one follows holds all
    rows.

    Args:
        counted: result of the query that counts.
        shown: number of rows of the page.
        first: the page is the first one.
        more: another page follows.
    """
    return shown if first and not more else max(counted, shown + more)
