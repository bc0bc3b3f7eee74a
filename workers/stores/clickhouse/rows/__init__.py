"""Convert records to rows of the tables of ClickHouse."""
