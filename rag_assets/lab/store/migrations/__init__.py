"""Migrations of the events, run by Alembic."""
