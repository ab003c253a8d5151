"""What a paper says of itself: title, authors, dates, abstract."""
