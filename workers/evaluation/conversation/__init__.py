"""Read a query after the turns before it: pronouns, follow-ups and choices resolved by rules, for English."""
