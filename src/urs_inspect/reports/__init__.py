"""Reports on logs, as data frames, text, Markdown, CSV, JSON and pages."""
