"""Audits as pages of HTML: the draft itself, coloured, each note a click away."""
