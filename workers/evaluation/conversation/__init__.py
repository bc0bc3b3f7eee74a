"""Read a query after the turns before it: pronouns, follow-ups, corrections and choices resolved by rules."""
