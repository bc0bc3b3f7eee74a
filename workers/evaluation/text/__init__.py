"""Read text: language, segmentation, Markdown, wording."""
