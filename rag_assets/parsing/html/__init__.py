"""Web pages: the main content with its structure."""
