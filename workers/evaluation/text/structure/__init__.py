"""Read the structure of a text: Markdown, sentences, citation markers, quotations, code."""
