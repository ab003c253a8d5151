"""How well evidence is found within a paper."""
