"""Products and sets of products."""
