"""Connect to ClickHouse, migrate it and write rows."""
