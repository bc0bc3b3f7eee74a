"""Find contradictions of claims with evidence: opposites, denials, conditions, comparisons, exchanged roles and rows."""
