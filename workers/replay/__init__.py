"""Evaluate recorded answers again while live traffic continues, and requeue dead letters."""
