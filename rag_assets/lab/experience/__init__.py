"""What was learned: items that are searched, joined, edited and taken back."""
