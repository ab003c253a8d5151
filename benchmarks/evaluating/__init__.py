"""Harnesses of the agent, of laws, of claims and of drafts with known truth."""
