"""How well chunks hold the passages that answer questions."""
