"""Files of one's own before a run: `urs-inspect check` says what they are and what is wrong.

It reads them with the loaders of core and of other satellites; nothing needs it.
"""
