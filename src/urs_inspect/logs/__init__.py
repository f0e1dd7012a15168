"""Logs of inspect-ai: which count, how they are named, and what is in them."""
