"""Tests of what measures the stages."""
