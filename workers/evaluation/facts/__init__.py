"""Read and compare facts: quantities, units, dates, arithmetic, names, tables and records."""
