"""Logs of answers, verdicts and scores that exist already: `urs-inspect import`.

What it writes are logs as others; core reads them and does not need it.
"""
