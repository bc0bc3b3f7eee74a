"""Compare when something holds: months, sides of a date, changed states, ended offers."""
