"""A draft as it is written: Markdown, text or Word; its sentences, citations and quotations."""
