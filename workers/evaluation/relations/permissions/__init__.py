"""Compare what claims and evidence permit, require, reserve and forbid."""
