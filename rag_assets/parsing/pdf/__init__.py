"""PDF by PyMuPDF: a pipeline of passes from printed lines to the clean text."""
