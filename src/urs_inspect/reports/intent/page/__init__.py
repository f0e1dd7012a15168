"""Formats of numbers for reports that are still to be ported."""
