"""Numbers of reports: logs -> data frames and small results. No sentences."""
