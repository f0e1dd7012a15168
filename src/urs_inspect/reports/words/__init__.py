"""Words of reports: results -> sections of sentences and tables. No statistics."""
