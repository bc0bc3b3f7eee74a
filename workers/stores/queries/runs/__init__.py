"""Query the runs of replays and compare them."""
