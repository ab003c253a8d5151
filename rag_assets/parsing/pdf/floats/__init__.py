"""Figures and tables of a PDF with their captions."""
