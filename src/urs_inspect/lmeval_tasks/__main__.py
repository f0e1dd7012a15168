"""`python -m urs_inspect.lmeval_tasks`, the same as `urs-lm-eval`."""

from urs_inspect.lmeval_tasks._command import main

main()
