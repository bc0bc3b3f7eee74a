"""Two tenants that share a console and a worker, and attacks on them."""
