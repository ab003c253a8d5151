"""Teaching the small reader: examples, training, weights to ship, figures."""
