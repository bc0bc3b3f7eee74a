"""Define one section of the settings each: its fields, defaults, units and reasons."""
