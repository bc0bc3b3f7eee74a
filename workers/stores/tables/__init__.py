"""Define the ClickHouse tables: one class a table, whose fields are the stored columns in their order."""
