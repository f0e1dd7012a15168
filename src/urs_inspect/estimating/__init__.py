"""What a run will take before it starts: `urs-inspect estimate`.

It runs a task with models that only count tokens; core does not need it.
"""
