"""Kills, faults and hostile inputs, and whether the library held."""
