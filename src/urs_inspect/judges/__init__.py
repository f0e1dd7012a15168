"""Judges compared: `urs-inspect judges`.

It reads logs of the tasks that test judges; whether a judge of a report was tested is core's.
"""
