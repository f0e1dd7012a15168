"""Logs of intent-judged answers -> one report."""
