"""What experiments gave: values, fractions, and how a run compares with others."""
