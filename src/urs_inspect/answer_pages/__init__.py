"""The answers behind a report's rankings, as tables and pages to which the report links.

`urs-inspect report --answers`.
"""
