"""Find contradictions in languages other than English, clause by clause."""
