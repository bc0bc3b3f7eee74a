"""List the tables."""

from collections.abc import Iterable

from workers.stores.tables.answer_tables import (
    AlertRow,
    AnswerFactRow,
    AnswerMoveRow,
    AnswerPlaceRow,
    AnswerRow,
    AnswerTextRow,
    CitationByIdRow,
    CitationLogRow,
    CitationRow,
    ClaimRow,
    ScoreRow,
    SourceRow,
)
from workers.stores.tables.feedback_tables import FeedbackRow, ImplicitFeedbackRow, InsightRow, RewardFactRow, RewardRow
from workers.stores.tables.operation_tables import (
    AccessRow,
    DeadLetterRow,
    MigrationRow,
    PromotedHourRow,
    PromotionRow,
    ReplayRow,
    VersionDayRow,
    VersionRow,
)
from workers.stores.tables.review_tables import DecisionRow, QueueRow, ReviewEventRow, ReviewRow
from workers.stores.tables.table_row import TableRow, column_names

WRITTEN: tuple[type[TableRow], ...] = (
    AnswerRow, ClaimRow, ScoreRow, CitationRow, SourceRow, CitationLogRow, AlertRow, ReviewRow, QueueRow, DecisionRow,
    ReviewEventRow, FeedbackRow, ImplicitFeedbackRow, RewardRow, InsightRow, DeadLetterRow, VersionRow, AccessRow,
    ReplayRow, PromotionRow,
)  # fmt: skip
"""Tables that workers insert into."""

FACTS: tuple[type[TableRow], ...] = (AnswerFactRow, RewardFactRow, AnswerPlaceRow, AnswerMoveRow)
"""Tables with the figures of single answers and the hours in which these count. Views fill them."""

FILLED: tuple[type[TableRow], ...] = (
    CitationByIdRow, AnswerTextRow, PromotedHourRow, VersionDayRow,
)  # fmt: skip
"""Other tables that views fill. They have no retention setting of their own."""

SUMS = ("answer_hours", "source_hours", "stage_hours", "worst_hours", "reward_hours")
"""Tables with hourly sums. They are written and read inside ClickHouse alone, so that they have no class."""

TABLES: tuple[type[TableRow], ...] = (*WRITTEN, *FACTS, *FILLED, MigrationRow)
"""All tables with a class."""

BY_NAME = {table.table: table for table in TABLES}
"""Table classes by the name of the table."""


def table_names(tables: Iterable[type[TableRow]], column: str = "") -> tuple[str, ...]:
    """Return the names of tables, or of those among them that have a column."""
    return tuple(table.table for table in tables if not column or column in column_names(table))


_LAST = (AnswerRow, ReplayRow)
OF_RUN = (
    *table_names((each for each in (*WRITTEN, CitationByIdRow, *FACTS) if each not in (*_LAST, PromotionRow)), "run"),
    *(name for name in SUMS if name != "reward_hours"),
    *table_names(_LAST),
)
"""Tables with rows of a run. The table that lists replays comes last, so that an interrupted removal shows and
can be repeated. Promotions stay: they are the record of which figures people saw."""
