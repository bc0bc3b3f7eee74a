"""Stores: ClickHouse, LanceDB and Redis behind small interfaces; each confirms before it returns."""
