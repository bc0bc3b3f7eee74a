"""Read the clauses of English sentences, and compare those of a claim with those of its evidence."""
