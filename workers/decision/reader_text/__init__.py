"""Write the text that readers see: marks, notices, references and quotes."""
