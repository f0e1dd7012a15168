"""Rankings of models adjusted: by a judge beside people's votes, and by the style of answers.

`urs-inspect rank --judge`, `--control` and `--prior`, and the prior of people's votes on logs of
`mad`.
"""
