"""Which paragraphs of a PDF are headings, and of what level."""
