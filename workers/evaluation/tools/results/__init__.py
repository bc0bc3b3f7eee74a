"""Read and index the results of tools: tables, documents, figures, failures."""
