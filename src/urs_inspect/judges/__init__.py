"""Judges compared: `urs-inspect judges`.

It reads logs of the tasks that test judges. Which tests a report's own judge has passed is shown by
`urs-inspect report`, which does without this folder.
"""
