"""HTTP API and pages: answers, citations, review, search and overview, for people and programs."""
