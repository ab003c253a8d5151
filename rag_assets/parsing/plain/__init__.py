"""Text files and Markdown, in any encoding."""
