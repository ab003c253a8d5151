"""How well tables of PDFs are read, cell by cell."""
