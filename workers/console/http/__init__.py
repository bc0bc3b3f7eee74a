"""Handle HTTP requests and responses of all routes: limits, errors, paging, entity tags."""
