"""Logs of intent-judged answers, and what people said -> how far judge and people agree."""
