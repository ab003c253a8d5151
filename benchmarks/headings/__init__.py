"""How well headings, titles, abstracts and references of papers are read."""
