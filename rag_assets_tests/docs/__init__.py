"""Tests of the documentation: what it says of the product is compared with the product."""
