"""Logs of inspect-ai: which count, how they are named, and the answers, references, comparisons and
scores in them.
"""
