"""People's ratings of single answers: the page where they rate, its files, and scores of a log.

`urs-inspect annotate` on logs of `urs`, and the scorer `human_rating`.
"""
