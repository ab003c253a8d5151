"""Word and PowerPoint files, and the safe opening of office packages."""
