"""Access ClickHouse, LanceDB and Redis behind small interfaces; each write is confirmed before it returns."""
