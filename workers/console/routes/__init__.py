"""Define the routes of the console, one module for each resource."""
