"""Query ClickHouse, one file for each subject."""
