"""Golden parses: what parsers read of known documents, as text that a person reviews.

`make golden` writes the files of this folder anew; the difference is what a change of a parser
does. A test compares them with what the parsers read now.
"""
