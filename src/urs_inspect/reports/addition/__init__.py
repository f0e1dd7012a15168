"""Logs of additions -> how long a chain models add up right (URS paper, D.5)."""
