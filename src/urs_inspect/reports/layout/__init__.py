"""Layout of reports: a `Report` as text, Markdown, CSV, JSON and a page."""
