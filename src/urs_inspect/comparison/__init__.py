"""Models compared by logs of any task, sample by sample; a gate for a run that replaces another.

It needs no task of this package: it reads every log of inspect-ai and lm-eval's files of samples.
What it offers to programs is `urs_inspect.compare`.
"""
